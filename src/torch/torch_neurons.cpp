#include "torch/torch_neurons.h"

#include <torch/torch.h>

#include <array>
#include <cmath>

#include "base/fail.h"
#include "torch/spike_function.h"

namespace bntt {
namespace {

/// The spike as the reset sees it.
torch::Tensor reset_spike(const torch::Tensor& spikes, const NeuronSpec& neuron) {
  return neuron.detach_reset ? spikes.detach() : spikes;
}

/// Has no gradient where the membrane is at the floor.
torch::Tensor above_floor(const torch::Tensor& membrane, const NeuronSpec& neuron) {
  if (!neuron.floor) return membrane;
  const auto floor = static_cast<double>(*neuron.floor);
  return torch::where(membrane > floor, membrane, torch::full_like(membrane, floor));
}

/// The step of each neuron's last spike; initially long before the first step.
class LastSpikes {
 public:
  explicit LastSpikes(const torch::Tensor& like) : steps_(torch::full_like(like, -1000.0)) {}

  torch::Tensor steps_until(int64_t step) const { return static_cast<double>(step) - steps_; }
  void add(const torch::Tensor& fired, int64_t step) {
    steps_ = torch::where(fired.detach() > 0.0, torch::full_like(steps_, static_cast<double>(step)),
                          steps_);
  }

 private:
  torch::Tensor steps_;
};

torch::Tensor at_step(const torch::Tensor& imposed, int64_t step) {
  return imposed.defined() ? imposed[step] : torch::Tensor();
}

}  // namespace

TorchNeuronsImpl::TorchNeuronsImpl(const NeuronSpec& spec, const MapShape& map,
                                   Propagation propagation, torch::Dtype dtype)
    : spec_(spec), propagation_(propagation) {
  constexpr std::array kKinds = {"lif", "if", "plif", "relu", "lee", "lee-if", "neunorm", "none"};
  if (std::find(kKinds.begin(), kKinds.end(), spec.kind) == kKinds.end()) {
    fail("the LibTorch oracle has no neuron '{}': write it in src/torch/torch_neurons.cpp",
         spec.kind);
  }
  if (spec.kind == "plif") {
    const double tau = 1.0 / (1.0 - static_cast<double>(spec.leak));
    a = register_parameter("a", torch::full({1}, -std::log(tau - 1.0), dtype));
  }
  if (spec.kind == "neunorm") {
    weight =
        register_parameter("weight", torch::zeros({map.channels, map.height, map.width}, dtype));
  }
}

TorchNeuronsImpl::Run TorchNeuronsImpl::forward(const torch::Tensor& drive,
                                                const torch::Tensor& imposed) {
  if (spec_.kind == "none") return {.output = drive};
  if (spec_.kind == "relu") return {.output = torch::relu(drive)};
  if (spec_.kind == "lee" || spec_.kind == "lee-if") return run_lee(drive, imposed);
  const Run run = propagation_ == Propagation::instant ? run_instant(drive, imposed)
                                                       : run_delayed(drive, imposed);
  if (spec_.kind == "neunorm") return {.output = normalised(run.output)};
  return run;
}

/// n_t = k n_{t−1} + (1 − k)/F · mean over the F channels of o; the output is o − w n_t.
torch::Tensor TorchNeuronsImpl::normalised(const torch::Tensor& spikes) const {
  const double decay = spec_.neunorm_decay;
  const double share = (1.0 - decay) / static_cast<double>(spikes.size(2));
  std::vector<torch::Tensor> handed_on;
  torch::Tensor trace = torch::zeros_like(spikes[0].narrow(1, 0, 1));
  for (int64_t i = 0; i < spikes.size(0); ++i) {
    trace = decay * trace + share * spikes[i].mean(1, /*keepdim=*/true);
    handed_on.push_back(spikes[i] - weight.unsqueeze(0) * trace);
  }
  return torch::stack(handed_on);
}

/// Lee et al. (2020): the potential above the threshold is subtracted, including its gradient; the
/// subsequent decay and the value of a spike have none. With a hard reset, delayed propagation is
/// the same.
TorchNeuronsImpl::Run TorchNeuronsImpl::run_lee(const torch::Tensor& drive,
                                                const torch::Tensor& imposed) const {
  const double threshold = spec_.threshold;
  const double leak = spec_.kind == "lee" ? static_cast<double>(spec_.leak) : 1.0;
  std::vector<torch::Tensor> membranes;
  std::vector<torch::Tensor> fired;
  torch::Tensor rest = torch::zeros_like(drive[0]);
  torch::Tensor trace = torch::zeros_like(drive[0]);
  torch::Tensor count = torch::zeros_like(drive[0]);
  for (int64_t i = 0; i < drive.size(0); ++i) {
    membranes.push_back(rest + drive[i]);
    const torch::Tensor& membrane = membranes.back();
    const torch::Tensor above =
        spec_.fire == Fire::ge ? membrane >= threshold : membrane > threshold;
    fired.push_back((imposed.defined() ? imposed[i] : above).to(drive.dtype()).detach());
    const torch::Tensor left = membrane - membrane * fired.back();
    rest = left - (1.0 - leak) * left.detach();
    trace = leak * trace + fired.back();
    count = count + fired.back();
  }
  torch::Tensor slope =
      (trace > 1e-3).to(drive.dtype()) + std::log(leak) * trace / torch::clamp_min(count, 1.0);
  if (spec_.kind == "lee") slope = slope / threshold;
  std::vector<torch::Tensor> spikes;
  for (std::size_t i = 0; i < fired.size(); ++i) {
    spikes.push_back(fired[i] * (1.0 + slope * (membranes[i] - membranes[i].detach())));
  }
  return {torch::stack(membranes), torch::stack(spikes)};
}

torch::Tensor TorchNeuronsImpl::integrate(const torch::Tensor& membrane,
                                          const torch::Tensor& drive) const {
  if (spec_.kind == "plif") return membrane + torch::sigmoid(a) * (drive - membrane);
  if (spec_.kind == "if") return membrane + drive;
  return static_cast<double>(spec_.leak) * membrane + drive;
}

/// v = λu + y; o = [v fires]; u ← v − θo, or v (1 − o).
TorchNeuronsImpl::Run TorchNeuronsImpl::run_instant(const torch::Tensor& drive,
                                                    const torch::Tensor& imposed) const {
  const double threshold = spec_.threshold;
  std::vector<torch::Tensor> membranes;
  std::vector<torch::Tensor> spikes;
  torch::Tensor rest = torch::zeros_like(drive[0]);
  LastSpikes last(rest);
  for (int64_t i = 0; i < drive.size(0); ++i) {
    membranes.push_back(above_floor(integrate(rest, drive[i]), spec_));
    const torch::Tensor& membrane = membranes.back();
    spikes.push_back(spike(membrane, spec_, at_step(imposed, i), last.steps_until(i)));
    last.add(spikes.back(), i);
    const torch::Tensor reset = reset_spike(spikes.back(), spec_);
    rest = spec_.reset == Reset::soft ? membrane - threshold * reset : membrane * (1.0 - reset);
  }
  return {torch::stack(membranes), torch::stack(spikes)};
}

/// o = [u fires]; u ← λu + y − θo, or λu (1 − o) + y. The spike of local step i is the one made
/// possible by the update of step i: it is fired, and seen by the next stage, one step later.
TorchNeuronsImpl::Run TorchNeuronsImpl::run_delayed(const torch::Tensor& drive,
                                                    const torch::Tensor& imposed) const {
  const double threshold = spec_.threshold;
  std::vector<torch::Tensor> membranes;
  std::vector<torch::Tensor> spikes;
  torch::Tensor membrane = torch::zeros_like(drive[0]);
  torch::Tensor fired = torch::zeros_like(drive[0]);
  LastSpikes last(fired);
  for (int64_t i = 0; i < drive.size(0); ++i) {
    const torch::Tensor reset = reset_spike(fired, spec_);
    membrane = spec_.reset == Reset::soft ? integrate(membrane, drive[i]) - threshold * reset
                                          : integrate(membrane * (1.0 - reset), drive[i]);
    membrane = above_floor(membrane, spec_);
    fired = spike(membrane, spec_, at_step(imposed, i), last.steps_until(i));
    last.add(fired, i);
    membranes.push_back(membrane);
    spikes.push_back(fired);
  }
  return {torch::stack(membranes), torch::stack(spikes)};
}

}  // namespace bntt
