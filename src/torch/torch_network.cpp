#include "torch/torch_network.h"

#include <torch/torch.h>

#include "base/check.h"
#include "torch/conversion.h"
#include "torch/spike_function.h"

namespace bntt {
namespace {

int64_t hidden_stages(const NetworkSpec& spec) {
  int64_t count = 0;
  for (const StageSpec& stage : spec.stages) {
    if (std::holds_alternative<Conv3x3>(stage) || std::holds_alternative<Dense>(stage)) ++count;
  }
  return count;
}

torch::Tensor pooled(const torch::Tensor& frames, int64_t size) {
  if (size == 0) return frames.mean({2, 3}, /*keepdim=*/true);
  return torch::avg_pool2d(frames, size);
}

MapShape pooled(const MapShape& map, int64_t size) {
  if (size == 0) return {map.channels, 1, 1};
  return {map.channels, map.height / size, map.width / size};
}

/// What the reset sees of the spike.
torch::Tensor reset_spike(const torch::Tensor& spikes, const NeuronSpec& neuron) {
  return neuron.detach_reset ? spikes.detach() : spikes;
}

double leak_of(const NeuronSpec& neuron) {
  return neuron.kind == "lif" ? static_cast<double>(neuron.leak) : 1.0;
}

struct NeuronRun {
  torch::Tensor membrane;
  torch::Tensor spikes;
};

/// v = λu + y; o = [v > θ]; u ← v − θo, or v (1 − o).
NeuronRun run_instant(const torch::Tensor& drive, const NeuronSpec& neuron,
                      const torch::Tensor& imposed) {
  const double leak = leak_of(neuron);
  const double threshold = neuron.threshold;
  std::vector<torch::Tensor> membranes;
  std::vector<torch::Tensor> spikes;
  torch::Tensor membrane = torch::zeros_like(drive[0]);
  for (int64_t i = 0; i < drive.size(0); ++i) {
    membrane = leak * membrane + drive[i];
    const torch::Tensor fired =
        spike(membrane, neuron, imposed.defined() ? imposed[i] : torch::Tensor());
    membranes.push_back(membrane);
    spikes.push_back(fired);
    const torch::Tensor reset = reset_spike(fired, neuron);
    membrane =
        neuron.reset == Reset::soft ? membrane - threshold * reset : membrane * (1.0 - reset);
  }
  return {torch::stack(membranes), torch::stack(spikes)};
}

/// o = [u > θ]; u ← λu + y − θo, or λu (1 − o) + y. The spike of local step i is the one that step
/// i's update makes possible: it is fired, and seen by the next stage, one step later.
NeuronRun run_delayed(const torch::Tensor& drive, const NeuronSpec& neuron,
                      const torch::Tensor& imposed) {
  const double leak = leak_of(neuron);
  const double threshold = neuron.threshold;
  std::vector<torch::Tensor> membranes;
  std::vector<torch::Tensor> spikes;
  torch::Tensor membrane = torch::zeros_like(drive[0]);
  torch::Tensor fired = torch::zeros_like(drive[0]);
  for (int64_t i = 0; i < drive.size(0); ++i) {
    const torch::Tensor reset = reset_spike(fired, neuron);
    membrane = neuron.reset == Reset::soft ? leak * membrane + drive[i] - threshold * reset
                                           : leak * membrane * (1.0 - reset) + drive[i];
    fired = spike(membrane, neuron, imposed.defined() ? imposed[i] : torch::Tensor());
    membranes.push_back(membrane);
    spikes.push_back(fired);
  }
  return {torch::stack(membranes), torch::stack(spikes)};
}

}  // namespace

TorchNetwork::TorchNetwork(const NetworkSpec& spec, const TorchOptions& options)
    : steps_(spec.steps), propagation_(spec.propagation), options_(options) {
  const bool delayed = spec.propagation == Propagation::delayed;
  active_steps_ = delayed ? spec.steps - hidden_stages(spec) : spec.steps;
  BNTT_CHECK(active_steps_ > 0);
  add_stages(spec);
}

void TorchNetwork::add_stages(const NetworkSpec& spec) {
  MapShape map = spec.input;
  std::vector<int64_t> pools;
  for (const StageSpec& described : spec.stages) {
    if (const auto* pool = std::get_if<AvgPool>(&described)) {
      pools.push_back(pool->size);
      map = pooled(map, pool->size);
      continue;
    }
    Stage stage;
    stage.pools = std::move(pools);
    pools.clear();
    if (const auto* convolution = std::get_if<Conv3x3>(&described)) {
      stage.convolution = true;
      stage.neuron = convolution->neuron;
      add_stage(stage, convolution->norm, convolution->channels, map);
    } else if (const auto* dense = std::get_if<Dense>(&described)) {
      stage.neuron = dense->neuron;
      add_stage(stage, dense->norm, dense->features, map);
    } else {
      const auto& readout = std::get<Readout>(described);
      stage.readout = true;
      divide_by_steps_ = readout.divide_by_steps;
      add_stage(stage, readout.norm, readout.classes, map);
    }
  }
}

void TorchNetwork::add_stage(Stage stage, const NormSpec& norm, int64_t outputs, MapShape& map) {
  const auto index = static_cast<int64_t>(stages_.size());
  stage.first_step = propagation_ == Propagation::delayed ? index : 0;
  stage.weight = register_parameter(
      "weight" + std::to_string(index),
      stage.convolution ? torch::zeros({outputs, map.channels, 3, 3}, options_.dtype)
                        : torch::zeros({outputs, map.size()}, options_.dtype));
  stage.norm = register_module("norm" + std::to_string(index),
                               TorchNorm(norm, steps_, outputs, options_.dtype));
  map = stage.convolution ? MapShape{outputs, map.height, map.width} : MapShape{outputs, 1, 1};
  stages_.push_back(std::move(stage));
}

void TorchNetwork::load(const Network& network) {
  BNTT_CHECK(network.statistics().size() == stages_.size());
  const torch::NoGradGuard values_only;
  auto parameter = network.parameters().begin();
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const Stage& stage = stages_[i];
    stage.weight.copy_(to_tensor(*parameter, parameter->value, dtype()));
    ++parameter;
    if (stage.norm->gain.defined()) {
      stage.norm->gain.copy_(to_tensor(*parameter, parameter->value, dtype()));
      ++parameter;
    }
    if (!stage.norm->keeps_statistics()) continue;
    const RunningStatistics& statistics = network.statistics()[i];
    const int64_t channels = stage.norm->running_mean.size(1);
    const auto rows = [&](const Buffer<float>& values) {
      return to_tensor(values, 1, {channels, 1, 1}, dtype()).view({-1, channels});
    };
    stage.norm->running_mean.copy_(rows(statistics.mean));
    stage.norm->running_variance.copy_(rows(statistics.variance));
  }
  BNTT_CHECK(parameter == network.parameters().end());
}

TorchResult TorchNetwork::forward(const torch::Tensor& input, NormMode mode,
                                  const std::vector<torch::Tensor>* imposed_spikes) {
  TorchResult result;
  torch::Tensor signal =
      input.size(0) == active_steps_ ? input : input.expand({active_steps_, -1, -1, -1, -1});
  for (std::size_t index = 0; index < stages_.size(); ++index) {
    Stage& stage = stages_[index];
    std::vector<torch::Tensor> currents;
    for (int64_t i = 0; i < active_steps_; ++i) currents.push_back(apply_synapse(stage, signal[i]));
    TorchStageResult kept;
    kept.current = torch::stack(currents);
    const torch::Tensor drive = stage.norm->forward(kept.current, stage.first_step, mode);
    if (stage.readout) {
      const torch::Tensor voltage = drive.sum(0).flatten(1);
      result.logits = divide_by_steps_ ? voltage / static_cast<double>(steps_) : voltage;
    } else if (stage.neuron.kind == "relu") {
      kept.output = torch::relu(drive);
    } else {
      const torch::Tensor imposed =
          imposed_spikes != nullptr ? imposed_spikes->at(index) : torch::Tensor();
      const NeuronRun run = propagation_ == Propagation::instant
                                ? run_instant(drive, stage.neuron, imposed)
                                : run_delayed(drive, stage.neuron, imposed);
      kept.membrane = run.membrane;
      kept.output = run.spikes;
    }
    signal = kept.output;
    result.stages.push_back(std::move(kept));
  }
  return result;
}

torch::Tensor apply_synapse(const TorchNetwork::Stage& stage, torch::Tensor frames) {
  for (const int64_t size : stage.pools) frames = pooled(frames, size);
  if (stage.convolution) {
    return torch::conv2d(frames, stage.weight, /*bias=*/{}, /*stride=*/1, /*padding=*/1);
  }
  return torch::linear(frames.flatten(1), stage.weight).unsqueeze(-1).unsqueeze(-1);
}

}  // namespace bntt
