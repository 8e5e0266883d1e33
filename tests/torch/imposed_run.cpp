#include "imposed_run.h"

#include <gtest/gtest.h>

#include <limits>

#include "cases.h"
#include "torch/conversion.h"

namespace bntt {
namespace {

constexpr double kForwardTolerance = 1e-5;
constexpr double kThresholdTolerance = 1e-5;
constexpr double kGradientTolerance = 1e-4;

std::vector<torch::Tensor> spikes_of(const Trace& trace, torch::Dtype dtype) {
  std::vector<torch::Tensor> spikes;
  for (std::size_t i = 0; i + 1 < trace.stages.size(); ++i) {
    const auto* fired = std::get_if<SpikeTrain>(&trace.stages[i].output);
    spikes.push_back(fired != nullptr ? to_tensor(*fired, dtype) : torch::Tensor());
  }
  return spikes;
}

bool is_active(const StagePlan& plan, int64_t step) {
  return step >= plan.first_step && step < plan.first_step + plan.active_steps;
}

}  // namespace

double relative_error(const torch::Tensor& ours, const torch::Tensor& oracle) {
  const double difference = (ours - oracle).norm().item<double>();
  const double size = oracle.norm().item<double>();
  if (size == 0.0) return difference == 0.0 ? 0.0 : std::numeric_limits<double>::infinity();
  return difference / size;
}

ImposedRun::ImposedRun(Network& network, const Signal& input, NormMode mode)
    : network_(network), oracle_(network.spec()), statistics_before_(network.statistics()) {
  oracle_.load(network);
  trace_ = network.forward(input, mode);
  input_ = to_tensor(input, oracle_.dtype()).requires_grad_();
  const std::vector<torch::Tensor> imposed = spikes_of(trace_, oracle_.dtype());
  result_ = oracle_.forward(input_, mode, &imposed);
}

void ImposedRun::expect_forward_agrees() const {
  const int64_t batch = input_.size(1);
  ASSERT_EQ(trace_.stages.size(), result_.stages.size());
  for (std::size_t i = 0; i < trace_.stages.size(); ++i) {
    const StagePlan& plan = network_.stages()[i];
    SCOPED_TRACE(plan.name);
    EXPECT_EQ(plan.first_step, oracle_.stages()[i].first_step);
    EXPECT_EQ(plan.active_steps, oracle_.active_steps());
    const torch::Tensor current =
        to_tensor(trace_.stages[i].current, batch, plan.output, oracle_.dtype());
    EXPECT_EQ(current.size(0), trace_.stages[i].current_constant ? 1 : plan.active_steps);
    EXPECT_LT(
        relative_error(current.expand_as(result_.stages[i].current), result_.stages[i].current),
        kForwardTolerance);
    if (!plan.readout) expect_spikes_allowed(i);
    expect_statistics_agree(i);
  }
  const torch::Tensor logits =
      to_tensor(trace_.logits, batch, {result_.logits.size(1), 1, 1}, oracle_.dtype());
  EXPECT_LT(relative_error(logits.view_as(result_.logits), result_.logits), kForwardTolerance);
  EXPECT_GT(result_.logits.norm().item<double>(), 0.0);
}

void ImposedRun::expect_spikes_allowed(std::size_t stage) const {
  const TorchStageResult& oracle = result_.stages[stage];
  const torch::Tensor ours = to_tensor(trace_.stages[stage].output, oracle_.dtype());
  if (!oracle.membrane.defined()) {
    EXPECT_LT(relative_error(ours, oracle.output), kForwardTolerance);
    return;
  }
  const double density = ours.mean().item<double>();
  EXPECT_GT(density, 0.0) << "no neuron fired";
  EXPECT_LT(density, 1.0) << "every neuron fired";
  const double threshold = network_.stages()[stage].neuron.threshold;
  const torch::Tensor contradicts = (oracle.membrane > threshold) != (ours > 0.5);
  const torch::Tensor distance = (oracle.membrane - threshold).abs();
  EXPECT_LE((distance * contradicts).max().item<double>(), kThresholdTolerance);
}

void ImposedRun::expect_statistics_agree(std::size_t stage) const {
  const TorchNorm& norm = oracle_.stages()[stage].norm;
  const RunningStatistics& ours = network_.statistics()[stage];
  if (!norm->keeps_statistics()) {
    EXPECT_EQ(ours.rows, 0);
    return;
  }
  const int64_t channels = norm->running_mean.size(1);
  ASSERT_EQ(ours.rows, norm->running_mean.size(0));
  const auto rows = [&](const Buffer<float>& values) {
    return to_tensor(values, 1, {channels, 1, 1}, oracle_.dtype()).view({-1, channels});
  };
  EXPECT_LT(relative_error(rows(ours.mean), norm->running_mean), kForwardTolerance);
  EXPECT_LT(relative_error(rows(ours.variance), norm->running_variance), kForwardTolerance);
  if (ours.rows == 1) return;
  const torch::Tensor moved =
      (rows(ours.variance) != rows(statistics_before_[stage].variance)).any(1);
  for (int64_t step = 0; step < ours.rows; ++step) {
    const bool expected =
        trace_.mode == NormMode::batch && is_active(network_.stages()[stage], step);
    EXPECT_EQ(moved[step].item<bool>(), expected) << "running statistics of step " << step;
  }
}

void ImposedRun::expect_backward_agrees(const Buffer<float>& logits_gradient,
                                        const torch::Tensor& oracle_loss) {
  oracle_loss.backward();
  Buffer<float> input_gradient;
  network_.backward(trace_, logits_gradient, &input_gradient);

  auto parameter = network_.parameters().cbegin();
  for (std::size_t i = 0; i < trace_.stages.size(); ++i) {
    const TorchNetwork::Stage& stage = oracle_.stages()[i];
    expect_gradient_agrees(*parameter++, stage.weight, i);
    if (stage.norm->gain.defined()) expect_gradient_agrees(*parameter++, stage.norm->gain, i);
  }
  const torch::Tensor ours =
      to_tensor(input_gradient, input_.size(1), network_.spec().input, oracle_.dtype());
  EXPECT_GT(input_.grad().norm().item<double>(), 0.0);
  EXPECT_LT(relative_error(ours, input_.grad()), kGradientTolerance) << "gradient of the input";
}

void ImposedRun::expect_gradient_agrees(const Parameter& parameter,
                                        const torch::Tensor& oracle_values,
                                        std::size_t stage) const {
  SCOPED_TRACE(parameter.name);
  const torch::Tensor ours = to_tensor(parameter, parameter.gradient, oracle_.dtype());
  EXPECT_GT(oracle_values.grad().norm().item<double>(), 0.0);
  EXPECT_LT(relative_error(ours, oracle_values.grad()), kGradientTolerance);
  if (parameter.kind == Parameter::Kind::weight || ours.dim() == 1) return;
  for (int64_t step = 0; step < ours.size(0); ++step) {
    if (is_active(network_.stages()[stage], step)) continue;
    EXPECT_EQ(ours[step].abs().max().item<double>(), 0.0) << "gain of inactive step " << step;
  }
}

void ImposedRun::expect_all_agrees() {
  expect_forward_agrees();
  const Buffer<float> gradient = random_values(trace_.logits.size(), -1.0F, 1.0F, /*seed=*/77);
  const torch::Tensor oracle_gradient =
      to_tensor(gradient, result_.logits.size(0), {result_.logits.size(1), 1, 1}, oracle_.dtype());
  expect_backward_agrees(gradient,
                         (oracle_gradient.view_as(result_.logits) * result_.logits).sum());
}

}  // namespace bntt
