#include <gtest/gtest.h>
#include <torch/torch.h>

#include "analyse/robustness.h"
#include "cases.h"
#include "imposed_run.h"
#include "torch/conversion.h"

namespace bntt {
namespace {

constexpr int64_t kBatch = 3;

Batch random_batch(const NetworkSpec& spec) {
  Batch batch{.sample_ids = {4, 5, 6},
              .labels = random_labels(kBatch, classes_of(spec), /*seed=*/3),
              .shape = spec.input,
              .images = random_values(kBatch * spec.input.size(), 0.0F, 1.0F, /*seed=*/8)};
  return batch;
}

/// ∂(Σ losses)/∂input of one encoding by autograd, summed over the steps: [batch, channel, y, x].
torch::Tensor oracle_gradient(Network& network, const Signal& input, const Batch& batch) {
  ImposedRun run(network, input, NormMode::running);
  const torch::Tensor labels = torch::tensor(batch.labels);
  const torch::Tensor loss = torch::nn::functional::cross_entropy(
      run.oracle_logits(), labels,
      torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum));
  loss.backward();
  return run.oracle_input().grad().sum(0);
}

using Case = std::tuple<EncoderKind, Propagation, std::string>;
class CraftedGradient : public testing::TestWithParam<Case> {};

TEST_P(CraftedGradient, IsTheOraclesSummedOverStepsAndAveragedOverDraws) {
  const auto [kind, propagation, norm] = GetParam();
  const NetworkSpec spec = small_network({.norm = {.kind = norm},
                                          .propagation = propagation,
                                          .steps = propagation == Propagation::delayed ? 9 : 5});
  Network network(spec, /*seed=*/5);
  make_unremarkable(network, Encoding::signed_spikes, kBatch);
  const Batch batch = random_batch(spec);
  const EncoderSpec encoder{kind, {{0.4F, 0.5F}, {0.2F, 0.3F}}};
  constexpr int64_t kDraws = 2;
  constexpr uint64_t kSeed = 11;

  torch::Tensor expected = torch::zeros({kBatch, 2, 9, 7}, torch::kFloat64);
  for (int64_t draw = 0; draw < kDraws; ++draw) {
    const Signal input = encode(batch, active_steps(spec), encoder, kSeed, attack_epoch(draw));
    expected += oracle_gradient(network, input, batch) / static_cast<double>(kDraws);
  }
  if (kind != EncoderKind::poisson_unsigned) {
    expected /= torch::tensor({0.2, 0.3}, torch::kFloat64).view({1, 2, 1, 1});
  }
  const torch::Tensor ours = to_tensor(pixel_gradient(network, batch, encoder, kSeed, kDraws),
                                       kBatch, spec.input, torch::kFloat64)
                                 .squeeze(0);
  EXPECT_GT(expected.norm().item<double>(), 0.0);
  EXPECT_LT(relative_error(ours, expected), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, CraftedGradient,
    testing::Combine(testing::Values(EncoderKind::poisson_signed, EncoderKind::poisson_unsigned,
                                     EncoderKind::direct),
                     testing::Values(Propagation::instant, Propagation::delayed),
                     testing::Values("bntt", "bn")));

}  // namespace
}  // namespace bntt
