#include "imposed_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "cases.h"
#include "torch/conversion.h"

namespace bntt {
namespace {

/// Also where currents are kept as bf16.
Buffer<float> current_in(const BranchTrace& trace) {
  if (trace.half_current.empty()) return trace.current;
  Buffer<float> current(trace.half_current.size());
  for (int64_t i = 0; i < current.size(); ++i) {
    current[i] = std::bit_cast<float>(static_cast<uint32_t>(trace.half_current[i]) << 16);
  }
  return current;
}

std::vector<torch::Tensor> spikes_of(const Trace& trace, torch::Dtype dtype) {
  std::vector<torch::Tensor> spikes;
  for (std::size_t i = 0; i + 1 < trace.stages.size(); ++i) {
    const auto* fired = std::get_if<SpikeTrain>(&trace.stages[i].output);
    spikes.push_back(fired != nullptr ? to_tensor(*fired, dtype) : torch::Tensor());
  }
  return spikes;
}

std::vector<torch::Tensor> kept_in(const Trace& trace, torch::Dtype dtype) {
  std::vector<torch::Tensor> kept;
  for (const StageTrace& stage : trace.stages) {
    kept.push_back(stage.dropped ? to_tensor(stage.dropped->kept, dtype) : torch::Tensor());
  }
  return kept;
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

ImposedRun::ImposedRun(Network& network, const Signal& input, NormMode mode,
                       const DropoutDraws* dropout, const Tolerances& tolerances)
    : network_(network),
      tolerances_(tolerances),
      oracle_(network.spec()),
      statistics_before_(network.statistics()) {
  oracle_.load(network);
  trace_ = network.forward(input, mode, Keep::everything, dropout);
  input_ = to_tensor(input, oracle_.dtype()).requires_grad_();
  const std::vector<torch::Tensor> imposed = spikes_of(trace_, oracle_.dtype());
  const std::vector<torch::Tensor> kept = kept_in(trace_, oracle_.dtype());
  result_ = oracle_.forward(input_, mode, &imposed, &kept);
  for (const TorchStageResult& stage : result_.stages) {
    for (const torch::Tensor& current : stage.currents) current.retain_grad();
  }
}

void ImposedRun::expect_forward_agrees() const {
  const int64_t batch = input_.size(1);
  ASSERT_EQ(trace_.stages.size(), result_.stages.size());
  for (std::size_t i = 0; i < trace_.stages.size(); ++i) {
    const StagePlan& plan = network_.stages()[i];
    SCOPED_TRACE(plan.name);
    EXPECT_EQ(plan.name, oracle_.stages()[i].name);
    EXPECT_EQ(plan.first_step, oracle_.stages()[i].first_step);
    EXPECT_EQ(plan.active_steps, oracle_.active_steps());
    expect_branches_agree(i);
    if (!plan.readout) expect_output_agrees(i);
  }
  expect_statistics_agree();
  const torch::Tensor logits =
      to_tensor(trace_.logits, batch, {result_.logits.size(1), 1, 1}, oracle_.dtype());
  EXPECT_LT(relative_error(logits.view_as(result_.logits), result_.logits), tolerances_.forward);
  EXPECT_GT(result_.logits.norm().item<double>(), 0.0);
}

void ImposedRun::expect_branches_agree(std::size_t stage) const {
  const StagePlan& plan = network_.stages()[stage];
  ASSERT_EQ(plan.branches.size(), oracle_.stages()[stage].branches.size());
  for (std::size_t b = 0; b < plan.branches.size(); ++b) {
    SCOPED_TRACE(plan.branches[b].name);
    const BranchTrace& trace = trace_.stages[stage].branches[b];
    torch::Tensor expected = result_.stages[stage].currents[b];
    const torch::Tensor current =
        to_tensor(current_in(trace), input_.size(1), plan.output, oracle_.dtype());
    std::vector<torch::Tensor> of_working_steps;
    for (int64_t step = 0; step < plan.active_steps; ++step) {
      if (works(plan.branches[b].name + ".", plan.first_step + step)) {
        of_working_steps.push_back(expected[step]);
      }
    }
    expected = torch::stack(of_working_steps);
    EXPECT_EQ(current.size(0), trace.current_constant ? 1 : std::ssize(of_working_steps));
    EXPECT_LT(relative_error(current.expand_as(expected), expected), tolerances_.forward);
  }
}

void ImposedRun::expect_output_agrees(std::size_t stage) const {
  const TorchStageResult& oracle = result_.stages[stage];
  const torch::Tensor ours = to_tensor(trace_.stages[stage].output, oracle_.dtype());
  if (!oracle.membrane.defined()) {
    EXPECT_LT(relative_error(ours, oracle.output), tolerances_.forward);
    return;
  }
  const double density = ours.mean().item<double>();
  EXPECT_GT(density, 0.0) << "no neuron fired";
  EXPECT_LT(density, 1.0) << "every neuron fired";
  const double threshold = network_.stages()[stage].neuron.threshold;
  const torch::Tensor contradicts = (oracle.membrane > threshold) != (ours > 0.5);
  const torch::Tensor distance = (oracle.membrane - threshold).abs();
  EXPECT_LE((distance * contradicts).max().item<double>(), tolerances_.threshold);
}

void ImposedRun::expect_statistics_agree() const {
  const auto buffers = oracle_.named_buffers();
  ASSERT_EQ(network_.statistics().size(), buffers.size());
  for (std::size_t i = 0; i < network_.statistics().size(); ++i) {
    const Statistic& statistic = network_.statistics()[i];
    SCOPED_TRACE(statistic.name);
    const torch::Tensor ours = to_tensor(statistic, statistic.value, oracle_.dtype());
    const torch::Tensor oracle = buffers[statistic.name].clone();
    for (int64_t step = 0; ours.dim() == 2 && step < ours.size(0); ++step) {
      if (!works(statistic.name, step)) oracle[step] = ours[step];  // checked below
    }
    EXPECT_LT(relative_error(ours, oracle), tolerances_.forward);
    const torch::Tensor before = to_tensor(statistic, statistics_before_[i].value, oracle_.dtype());
    if (ours.dim() == 1) {
      EXPECT_EQ((ours != before).any().item<bool>(), trace_.mode == NormMode::batch);
      continue;
    }
    const torch::Tensor moved = (ours != before).any(1);
    for (int64_t step = 0; step < ours.size(0); ++step) {
      const bool expected = trace_.mode == NormMode::batch && works(statistic.name, step);
      EXPECT_EQ(moved[step].item<bool>(), expected) << "step " << step;
    }
  }
}

const StagePlan& ImposedRun::stage_of(const std::string& name) const {
  const auto& stages = network_.stages();
  const auto stage = std::find_if(stages.begin(), stages.end(), [&](const StagePlan& plan) {
    return name.starts_with(plan.name + ".");
  });
  EXPECT_TRUE(stage != stages.end()) << name;
  return *stage;
}

bool ImposedRun::works(const std::string& name, int64_t step) const {
  const StagePlan& plan = stage_of(name);
  if (!is_active(plan, step)) return false;
  if (network_.windows().empty()) return true;
  const auto stage = static_cast<std::size_t>(&plan - network_.stages().data());
  // The first branch has the name of the stage, with which those of the others begin.
  std::size_t branch = 0;
  for (std::size_t b = 1; b < plan.branches.size(); ++b) {
    if (name.starts_with(plan.branches[b].name + ".")) branch = b;
  }
  return network_.windows().active[stage][branch][step];
}

void ImposedRun::expect_backward_agrees(const Buffer<float>& logits_gradient,
                                        const torch::Tensor& oracle_loss, bool of_steps) {
  oracle_loss.backward();
  Buffer<float> input_gradient;
  if (of_steps) {
    network_.backward_from_steps(trace_, logits_gradient, &input_gradient);
  } else {
    network_.backward(trace_, logits_gradient, &input_gradient);
  }

  const auto parameters = oracle_.named_parameters();
  ASSERT_EQ(network_.parameters().size(), parameters.size());
  for (const Parameter& parameter : network_.parameters()) {
    SCOPED_TRACE(parameter.name);
    torch::Tensor gradient = parameters[parameter.name].grad();
    ASSERT_TRUE(gradient.defined());
    // A row of γ that is switched off is frozen, though the oracle would move it.
    for (int64_t step = 0;
         parameter.group == ParameterGroup::gain && gradient.dim() == 2 && step < gradient.size(0);
         ++step) {
      if (!works(parameter.name, step)) gradient[step] = torch::zeros_like(gradient[step]);
    }
    expect_gradient_agrees(parameter, gradient);
  }
  const torch::Tensor ours =
      to_tensor(input_gradient, input_.size(1), network_.spec().input, oracle_.dtype());
  EXPECT_GT(input_.grad().norm().item<double>(), 0.0);
  EXPECT_LT(relative_error(ours, input_.grad()), tolerances_.gradient) << "gradient of the input";
}

torch::Tensor ImposedRun::current_of_cancelled_bias(const Parameter& parameter) const {
  if (parameter.group != ParameterGroup::bias || trace_.mode != NormMode::batch) return {};
  for (std::size_t i = 0; i < oracle_.stages().size(); ++i) {
    for (std::size_t b = 0; b < oracle_.stages()[i].branches.size(); ++b) {
      const bool own = network_.stages()[i].branches[b].name + ".bias" == parameter.name;
      if (own && oracle_.stages()[i].branches[b].module->norm->keeps_statistics()) {
        return result_.stages[i].currents[b].grad();
      }
    }
  }
  return {};
}

void ImposedRun::expect_gradient_agrees(const Parameter& parameter,
                                        const torch::Tensor& gradient) const {
  const torch::Tensor ours = to_tensor(parameter, parameter.gradient, oracle_.dtype());
  const torch::Tensor of_current = current_of_cancelled_bias(parameter);
  if (of_current.defined()) {
    expect_cancelled(ours, of_current);
    return;
  }
  EXPECT_GT(gradient.norm().item<double>(), 0.0);
  // The gradient of a single number, as neurons have it, is a sum of terms of both signs over all
  // neurons and steps, which cancel.
  const double cancelling = parameter.value.size() == 1 ? 50.0 : 1.0;
  EXPECT_LT(relative_error(ours, gradient), cancelling * tolerances_.gradient);
  const bool of_steps = parameter.name.ends_with(".step_scale") ||
                        (parameter.group != ParameterGroup::weight && ours.dim() == 2);
  if (!of_steps) return;
  for (int64_t step = 0; step < ours.size(0); ++step) {
    if (works(parameter.name, step)) continue;
    EXPECT_EQ(ours[step].abs().max().item<double>(), 0.0) << "of step " << step << ", which is off";
  }
}

/// A batch norm subtracts the bias with the mean: of a sum of many numbers, only rounding is left.
void ImposedRun::expect_cancelled(const torch::Tensor& bias_gradient,
                                  const torch::Tensor& current_gradient) const {
  const torch::Tensor size = current_gradient.abs().sum({0, 1, 3, 4});
  const double largest = size.max().item<double>();
  EXPECT_GT(largest, 0.0);
  EXPECT_LT(bias_gradient.abs().max().item<double>(), tolerances_.forward * largest);
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
