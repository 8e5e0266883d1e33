#include "torch/lean_network.h"

#include <torch/torch.h>

#include "base/check.h"
#include "base/fail.h"
#include "torch/conversion.h"

namespace bntt {
namespace {

void expect_supported(const NetworkSpec& spec, const std::vector<StagePlan>& stages) {
  const auto refuse = [](const std::string& what) {
    fail("the LibTorch comparison takes {}", what);
  };
  if (spec.propagation != Propagation::instant) refuse("instant propagation only");
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StagePlan& plan = stages[i];
    const BranchPlan& branch = plan.branches.front();
    const bool chain = plan.branches.size() == 1 && branch.sources.size() == 1 &&
                       branch.sources.front() == static_cast<int64_t>(i) - 1 &&
                       branch.synapse != SynapseKind::identity;
    if (!chain) refuse("chains only");
    if (branch.pools() && branch.pool != PoolKind::average) refuse("average pools only");
    if (branch.bias) refuse("synapses without bias only");
    if (plan.readout) {
      if (branch.norm.kind != "none") refuse("a readout without norm only");
      if (readout_of(spec).leak != 1.0F || readout_of(spec).votes != 1) {
        refuse("a readout without leak and votes only");
      }
      continue;
    }
    if (branch.norm.kind != "bntt" || branch.norm.shift) refuse("BNTT without shift only");
    if (plan.neuron.kind != "lif" && plan.neuron.kind != "if") {
      refuse("LIF and integrate-and-fire neurons only");
    }
    if (plan.neuron.reset != Reset::soft || !plan.neuron.detach_reset) {
      refuse("soft resets without gradient only");
    }
    if (plan.neuron.fire != Fire::gt) refuse("neurons that fire above the threshold only");
    if (plan.neuron.dropout != 0.0F) refuse("networks without dropout only");
    const SurrogateSpec& surrogate = plan.neuron.surrogate;
    if (surrogate.kind != SurrogateKind::triangle) refuse("the triangle surrogate only");
    if (surrogate.per_threshold) refuse("a surrogate without the factor 1/θ only");
    if (surrogate.width != 0.0F) refuse("a surrogate as wide as the threshold only");
  }
}

double leak_of(const NeuronSpec& neuron) {
  return neuron.kind == "lif" ? static_cast<double>(neuron.leak) : 1.0;
}

/// v_t = λ (v_{t−1} − θ o_{t−1}) + y_t, o_t = [v_t > θ] for all steps. Backward with the triangle:
/// ∂L/∂y_t = ∂L/∂o_t · α max(0, 1 − |v_t − θ|/θ) + λ ∂L/∂y_{t+1}.
/// Keeps: v_t, in the memory of y_t (batch norm does not need its own output again).
/// One tensor for all steps, since autograd does not look for inputs in a list of tensors.
struct LifFunction : torch::autograd::Function<LifFunction> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& drive, int64_t steps, double leak,
                               double threshold, double alpha) {
    const torch::Tensor membranes = drive.detach();
    const int64_t batch = membranes.size(0) / steps;
    torch::Tensor spikes = torch::empty_like(membranes);
    for (int64_t t = 0; t < steps; ++t) {
      torch::Tensor membrane = membranes.narrow(0, t * batch, batch);
      if (t > 0) {
        const int64_t before = (t - 1) * batch;
        membrane.add_(membranes.narrow(0, before, batch), leak)
            .sub_(spikes.narrow(0, before, batch), leak * threshold);
      }
      torch::Tensor fired = spikes.narrow(0, t * batch, batch);
      at::gt_out(fired, membrane, threshold);
    }
    context->saved_data["membranes"] = membranes;
    context->saved_data["steps"] = steps;
    context->saved_data["leak"] = leak;
    context->saved_data["threshold"] = threshold;
    context->saved_data["alpha"] = alpha;
    return spikes;
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               const torch::autograd::tensor_list& gradients) {
    torch::Tensor result = context->saved_data["membranes"].toTensor();
    const int64_t steps = context->saved_data["steps"].toInt();
    const double leak = context->saved_data["leak"].toDouble();
    const double threshold = context->saved_data["threshold"].toDouble();
    const double alpha = context->saved_data["alpha"].toDouble();
    const int64_t batch = result.size(0) / steps;
    for (int64_t t = steps - 1; t >= 0; --t) {
      torch::Tensor slope = result.narrow(0, t * batch, batch);
      slope.sub_(threshold).abs_().mul_(-alpha / threshold);
      slope.add_(alpha).clamp_min_(0.0).mul_(gradients[0].narrow(0, t * batch, batch));
      if (t + 1 < steps) slope.add_(result.narrow(0, (t + 1) * batch, batch), leak);
    }
    return {result, {}, {}, {}, {}};
  }
};

}  // namespace

LeanNetwork::LeanNetwork(const Network& network, at::MemoryFormat layout)
    : steps_(network.spec().steps), layout_(layout) {
  expect_supported(network.spec(), network.stages());
  const auto& readout = std::get<Readout>(network.spec().stages.back());
  readout_scale_ = readout.divide_by_steps ? 1.0 / static_cast<double>(steps_) : 1.0;
  const auto values_of = [&](const std::string& name) {
    for (const Parameter& parameter : network.parameters()) {
      if (parameter.name == name) return to_tensor(parameter, parameter.value, torch::kFloat32);
    }
    fail("the network has no parameter {}", name);
  };
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    Stage stage{.plan = plan, .branch = plan.branches.front()};
    const MapShape& input = stage.branch.input;
    torch::Tensor weight = values_of(plan.name + ".weight");
    if (stage.branch.synapse == SynapseKind::dense) {
      weight = weight.view({-1, input.channels, input.height, input.width});
    }
    stage.weight = register_parameter(plan.name + "_weight", weight.contiguous(layout));
    if (!plan.readout) {
      const torch::Tensor gain = values_of(plan.name + ".norm.weight");
      stage.gain = register_parameter(plan.name + "_gain", gain.clone());
      const auto keep = [&](const char* what, const torch::Tensor& values) {
        return register_buffer(plan.name + what, values);
      };
      const auto statistics = network.norm_statistics(i);
      const auto rows = [&](const Statistic& statistic) {
        return to_tensor(statistic, statistic.value, torch::kFloat32);
      };
      stage.mean = keep("_mean", rows(statistics[0]));
      stage.variance = keep("_variance", rows(statistics[1]));
      const torch::Tensor scale =
          gain / torch::sqrt(stage.variance + static_cast<double>(stage.branch.norm.epsilon));
      stage.scale = keep("_scale", scale.view({steps_, 1, -1, 1, 1}));
      stage.shift = keep("_shift", (-scale * stage.mean).view({steps_, 1, -1, 1, 1}));
    }
    stages_.push_back(std::move(stage));
  }
}

torch::Tensor LeanNetwork::current_of(const Stage& stage, torch::Tensor frames) {
  const BranchPlan& plan = stage.branch;
  if (plan.pools()) frames = torch::avg_pool2d(frames, {plan.pool_height, plan.pool_width});
  const bool convolution = plan.synapse == SynapseKind::conv;
  return torch::conv2d(frames, stage.weight, /*bias=*/{}, convolution ? plan.geometry.stride : 1,
                       convolution ? plan.geometry.padding : 0);
}

torch::Tensor LeanNetwork::forward_training(const torch::Tensor& input, int64_t batch) {
  torch::Tensor signal = input;
  for (const Stage& stage : stages_) {
    const torch::Tensor current = current_of(stage, signal);
    if (stage.plan.readout) {
      return current.view({steps_, batch, -1}).sum(0) * readout_scale_;
    }
    std::vector<torch::Tensor> drive = current.size(0) == batch
                                           ? std::vector<torch::Tensor>(steps_, current)
                                           : current.chunk(steps_);
    for (int64_t t = 0; t < steps_; ++t) {
      drive[t] = torch::batch_norm(drive[t], stage.gain[t], /*bias=*/{}, stage.mean[t],
                                   stage.variance[t], /*training=*/true, stage.branch.norm.momentum,
                                   stage.branch.norm.epsilon, /*cudnn_enabled=*/false);
    }
    const NeuronSpec& neuron = stage.plan.neuron;
    signal = LifFunction::apply(torch::cat(drive), steps_, leak_of(neuron),
                                static_cast<double>(neuron.threshold),
                                static_cast<double>(neuron.surrogate.alpha));
  }
  BNTT_CHECK(false);
}

void LeanNetwork::advance(const torch::Tensor& input, int64_t batch, int64_t first_step,
                          int64_t steps, State& state) {
  const torch::NoGradGuard values_only;
  state.membranes.resize(stages_.size());
  torch::Tensor signal = input;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const Stage& stage = stages_[i];
    const torch::Tensor current = current_of(stage, signal);
    if (stage.plan.readout) {
      const torch::Tensor voltage = current.view({steps, batch, -1}).sum(0);
      state.voltage = state.voltage.defined() ? state.voltage + voltage : voltage;
      return;
    }
    const double leak = leak_of(stage.plan.neuron);
    const double threshold = stage.plan.neuron.threshold;
    auto sizes = current.sizes().vec();
    sizes[0] = steps * batch;
    signal = torch::empty(sizes, current.options(), layout_);
    torch::Tensor& membrane = state.membranes[i];
    for (int64_t t = 0; t < steps; ++t) {
      const torch::Tensor step_current =
          current.size(0) == batch ? current : current.narrow(0, t * batch, batch);
      const torch::Tensor scale = stage.scale[first_step + t];
      const torch::Tensor shift = stage.shift[first_step + t];
      if (membrane.defined()) {
        membrane.mul_(leak).add_(shift).addcmul_(step_current, scale);
      } else {
        membrane = torch::addcmul(shift, step_current, scale);
      }
      torch::Tensor fired = signal.narrow(0, t * batch, batch);
      at::gt_out(fired, membrane, threshold);
      membrane.sub_(fired, threshold);
    }
  }
}

torch::Tensor LeanNetwork::logits(const State& state) const {
  return state.voltage * readout_scale_;
}

}  // namespace bntt
