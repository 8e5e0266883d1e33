#include <gtest/gtest.h>
#include <torch/torch.h>

#include "agreement.h"
#include "base/fail.h"
#include "imposed_run.h"
#include "layers/loss.h"

namespace bntt {
namespace {

constexpr int64_t kBatch = 3;
constexpr int64_t kClasses = 4;
constexpr std::array kPropagations = {Propagation::instant, Propagation::delayed};

int64_t steps_of(Propagation propagation) { return propagation == Propagation::delayed ? 8 : 5; }

torch::Tensor cross_entropy_of(const torch::Tensor& logits, const torch::Tensor& labels,
                               double smoothing) {
  return torch::nn::functional::cross_entropy(
      logits, labels, torch::nn::functional::CrossEntropyFuncOptions().label_smoothing(smoothing));
}

/// The losses from their definitions. Throws Error for a kind that is not written here.
torch::Tensor oracle_loss(const LossOptions& options, const ImposedRun& run,
                          const torch::Tensor& labels) {
  const torch::Tensor& logits = run.oracle_logits();
  if (options.kind == "cross-entropy") return cross_entropy_of(logits, labels, options.smoothing);
  if (options.kind == "mse" || options.kind == "sse") {
    const torch::Tensor target = (1.0 - options.smoothing) * torch::one_hot(labels, kClasses) +
                                 options.smoothing / static_cast<double>(kClasses);
    const auto reduction = options.kind == "sse" ? at::Reduction::Sum : at::Reduction::Mean;
    return torch::mse_loss(logits, target.to(torch::kFloat64), reduction);
  }
  if (options.kind == "tet") {
    const torch::Tensor& steps = run.oracle_step_logits();
    torch::Tensor sum = torch::zeros({}, torch::kFloat64);
    for (int64_t i = 0; i < steps.size(0); ++i) {
      sum = sum + cross_entropy_of(steps[i], labels, options.smoothing);
    }
    const torch::Tensor far = torch::mse_loss(steps, torch::full_like(steps, options.tet_target));
    return (1.0 - options.tet_share) * sum / static_cast<double>(steps.size(0)) +
           options.tet_share * far;
  }
  fail("the oracle has no loss '{}': write it in tests/torch/training_test.cpp", options.kind);
}

TEST(Oracle, EveryLossAndItsGradients) {
  for (const LossEntry& entry : loss_table()) {
    for (const Propagation propagation : kPropagations) {
      SCOPED_TRACE(std::string(entry.name) + " " + name_of(propagation));
      const LossOptions options{
          .kind = entry.name, .smoothing = 0.15, .tet_share = 0.3, .tet_target = 0.8};
      const NetworkSpec spec = small_network({.propagation = propagation,
                                              .steps = steps_of(propagation),
                                              .readout_leak = 0.8F,
                                              .readout_votes = 3});
      Network network(spec, /*seed=*/5);
      make_unremarkable(network, Encoding::signed_spikes, kBatch);
      ImposedRun run(network, random_input(spec, Encoding::signed_spikes, kBatch, /*seed=*/11),
                     NormMode::batch);
      run.expect_forward_agrees();
      const std::vector<int64_t> labels = random_labels(kBatch, kClasses, /*seed=*/3);
      const Loss loss =
          loss_of(options, {run.trace().logits, network.step_logits(run.trace())}, labels);
      const torch::Tensor expected = oracle_loss(options, run, torch::tensor(labels));
      EXPECT_NEAR(loss.loss, expected.item<double>(), 1e-5 * std::abs(loss.loss));
      run.expect_backward_agrees(loss.gradient, expected, loss.of_steps);
    }
  }
}

TEST(Oracle, LeakyAndVotingReadouts) {
  for (const Propagation propagation : kPropagations) {
    for (const float leak : {1.0F, 0.7F}) {
      for (const int64_t votes : {1, 4}) {
        SCOPED_TRACE(name_of(propagation) + " " + std::to_string(leak) + " " +
                     std::to_string(votes));
        expect_agreement_in_both_modes(small_network({.propagation = propagation,
                                                      .steps = steps_of(propagation),
                                                      .readout_norm = {.kind = "bn-time"},
                                                      .readout_leak = leak,
                                                      .readout_votes = votes}));
      }
    }
  }
}

// The votes are the spikes themselves.
TEST(Oracle, ReadoutsThatCountSpikes) {
  const Conv3x3 conv{.channels = 6, .norm = {.momentum = 0.6F}};
  const Dense votes{.features = 12, .norm = {.momentum = 0.6F}};
  const Readout readout{.classes = 4, .votes = 3, .synapse = SynapseKind::identity, .leak = 0.9F};
  expect_agreement_in_both_modes(
      {.input = {2, 9, 7}, .steps = 6, .stages = {conv, AvgPool{}, votes, readout}});
}

TEST(Oracle, Dropout) {
  for (const bool per_step : {false, true}) {
    for (const int64_t pool : {1, 2}) {
      for (const Propagation propagation : kPropagations) {
        SCOPED_TRACE(std::string(per_step ? "per step " : "constant ") + std::to_string(pool) +
                     name_of(propagation));
        const NetworkSpec spec =
            small_network({.norm = {.kind = "bn-time"},
                           .neuron = {.dropout = 0.3F, .dropout_per_step = per_step},
                           .propagation = propagation,
                           .steps = steps_of(propagation),
                           .pool = pool});
        for (const float break_even : {100.0F, -1.0F}) {
          Network network(spec, /*seed=*/5);
          set_break_even(network, break_even);
          make_unremarkable(network, Encoding::signed_spikes, kBatch);
          const DropoutDraws draws{.seed = 3, .epoch = 2, .samples = {7, 1, 9}};
          ImposedRun run(network, random_input(spec, Encoding::signed_spikes, kBatch, /*seed=*/11),
                         NormMode::batch, &draws);
          run.expect_all_agrees();
        }
      }
    }
  }
}

TEST(Oracle, DropoutOfAnAnn) {
  const NetworkSpec spec = small_network({.norm = {.kind = "bn", .epsilon = 0.3F},
                                          .neuron = {.kind = "relu", .dropout = 0.4F},
                                          .steps = 1});
  Network network(spec, /*seed=*/5);
  make_unremarkable(network, Encoding::direct, kBatch);
  const DropoutDraws draws{.seed = 3, .epoch = 2, .samples = {7, 1, 9}};
  ImposedRun run(network, random_input(spec, Encoding::direct, kBatch, /*seed=*/11),
                 NormMode::batch, &draws);
  run.expect_all_agrees();
}

}  // namespace
}  // namespace bntt
