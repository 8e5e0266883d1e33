#include <gtest/gtest.h>
#include <torch/torch.h>

#include "cases.h"
#include "imposed_run.h"
#include "torch/conversion.h"
#include "torch/spike_function.h"

namespace bntt {
namespace {

struct LiteralResult {
  std::vector<std::vector<torch::Tensor>> spikes;  // [stage][step of the run]
  torch::Tensor logits;
};

/// The delayed dynamics to the letter: one time loop around all layers, every layer at work in
/// every step, its spike taken from the membrane that the step before left. Nothing is skipped or
/// re-labelled. `input` has all steps of the run.
LiteralResult run_literally(TorchNetwork& network, const NetworkSpec& spec,
                            const torch::Tensor& input, NormMode mode) {
  const std::vector<TorchNetwork::Stage>& stages = network.stages();
  LiteralResult result;
  result.spikes.resize(stages.size() - 1);
  std::vector<torch::Tensor> membranes(stages.size());
  for (int64_t step = 0; step < spec.steps; ++step) {
    torch::Tensor signal = input[step];
    for (std::size_t l = 0; l < stages.size(); ++l) {
      TorchBranch branch = stages[l].branches.front().module;
      const torch::Tensor current = branch->current(signal);
      const torch::Tensor drive = branch->normalise(current.unsqueeze(0), step, mode)[0];
      torch::Tensor& u = membranes[l];
      if (!u.defined()) u = torch::zeros_like(drive);
      if (stages[l].readout) {
        u = u + drive;
        continue;
      }
      const NeuronSpec& neuron = stages[l].neuron;
      const torch::Tensor o = spike(u, neuron);
      const torch::Tensor reset = neuron.detach_reset ? o.detach() : o;
      const double leak = neuron.leak;
      const double threshold = neuron.threshold;
      u = neuron.reset == Reset::soft ? leak * u + drive - threshold * reset
                                      : leak * u * (1.0 - reset) + drive;
      result.spikes[l].push_back(o);
      signal = o;
    }
  }
  result.logits = membranes.back().flatten(1) / static_cast<double>(spec.steps);
  return result;
}

using Case = std::tuple<std::string, Reset, bool, SurrogateKind, NormMode>;
class DelayedLoop : public testing::TestWithParam<Case> {};

/// So that nothing rests on the claim that a delayed run equals stages at work in windows of their
/// own.
TEST_P(DelayedLoop, StageByStageEqualsOneLoopOverTime) {
  const auto [norm, reset, detach, surrogate, mode] = GetParam();
  const NetworkSpec spec = small_network(
      {.norm = {.kind = norm},
       .neuron = {.reset = reset, .detach_reset = detach, .surrogate = {.kind = surrogate}},
       .propagation = Propagation::delayed,
       .steps = 9});
  Network network(spec, /*seed=*/5);
  make_unremarkable(network, Encoding::signed_spikes, /*batch=*/3);
  TorchNetwork staged(spec);
  TorchNetwork literal(spec);
  staged.load(network);
  literal.load(network);

  // Steps that cannot reach the readout get an input too; it must make no difference.
  const torch::Tensor input =
      to_tensor(random_values(spec.steps * 3 * spec.input.size(), -1.5F, 1.5F, /*seed=*/6), 3,
                spec.input, staged.dtype());
  torch::Tensor whole = input.clone().requires_grad_();
  torch::Tensor reaching = input.slice(0, 0, staged.active_steps()).clone().requires_grad_();

  const LiteralResult expected = run_literally(literal, spec, whole, mode);
  const TorchResult result = staged.forward(reaching, mode);
  EXPECT_LT(relative_error(result.logits, expected.logits), 1e-12);
  for (std::size_t l = 0; l < expected.spikes.size(); ++l) {
    for (int64_t i = 0; i < staged.active_steps(); ++i) {
      const auto seen_at = static_cast<int64_t>(l) + i + 1;
      EXPECT_TRUE(torch::equal(result.stages[l].output[i], expected.spikes[l][seen_at]))
          << "stage " << l << ", local step " << i;
    }
  }

  const torch::Tensor weights =
      torch::linspace(-1.0, 1.0, result.logits.numel(), staged.dtype()).view_as(result.logits);
  (weights * expected.logits).sum().backward();
  (weights * result.logits).sum().backward();
  for (std::size_t l = 0; l < staged.stages().size(); ++l) {
    SCOPED_TRACE(l);
    const auto& ours = staged.stages()[l].branches.front().module;
    const auto& theirs = literal.stages()[l].branches.front().module;
    EXPECT_GT(theirs->weight.grad().norm().item<double>(), 0.0);
    EXPECT_LT(relative_error(ours->weight.grad(), theirs->weight.grad()), 1e-10);
    if (!ours->norm->gain.defined()) continue;
    EXPECT_LT(relative_error(ours->norm->gain.grad(), theirs->norm->gain.grad()), 1e-10);
    const int64_t first_step = staged.stages()[l].first_step;
    const auto window = [&](const torch::Tensor& rows) {
      return rows.slice(0, first_step, first_step + staged.active_steps());
    };
    EXPECT_LT(relative_error(window(ours->norm->running_mean), window(theirs->norm->running_mean)),
              1e-12);
    EXPECT_LT(relative_error(window(ours->norm->running_variance),
                             window(theirs->norm->running_variance)),
              1e-12);
  }
  const torch::Tensor literal_gradient = whole.grad().slice(0, 0, staged.active_steps());
  EXPECT_LT(relative_error(reaching.grad(), literal_gradient), 1e-10);
  EXPECT_EQ(whole.grad().slice(0, staged.active_steps()).abs().max().item<double>(), 0.0);
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, DelayedLoop,
    testing::Combine(testing::Values("none", "bntt"), testing::Values(Reset::soft, Reset::hard),
                     testing::Bool(),
                     testing::Values(SurrogateKind::triangle, SurrogateKind::sigmoid),
                     testing::Values(NormMode::batch, NormMode::running)),
    [](const auto& test) {
      return name_of(std::get<0>(test.param)) + "_" + name_of(std::get<1>(test.param)) +
             (std::get<2>(test.param) ? "_detached_" : "_attached_") +
             name_of(std::get<3>(test.param)) + "_" + name_of(std::get<4>(test.param));
    });

}  // namespace
}  // namespace bntt
