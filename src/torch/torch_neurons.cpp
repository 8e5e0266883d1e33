#include "torch/torch_neurons.h"

#include <torch/torch.h>

#include <array>
#include <cmath>

#include "base/fail.h"
#include "torch/spike_function.h"

namespace bntt {
namespace {

/// What the reset sees of the spike.
torch::Tensor reset_spike(const torch::Tensor& spikes, const NeuronSpec& neuron) {
  return neuron.detach_reset ? spikes.detach() : spikes;
}

torch::Tensor at_step(const torch::Tensor& imposed, int64_t step) {
  return imposed.defined() ? imposed[step] : torch::Tensor();
}

}  // namespace

TorchNeuronsImpl::TorchNeuronsImpl(const NeuronSpec& spec, Propagation propagation,
                                   torch::Dtype dtype)
    : spec_(spec), propagation_(propagation) {
  constexpr std::array kKinds = {"lif", "if", "plif", "relu", "none"};
  if (std::find(kKinds.begin(), kKinds.end(), spec.kind) == kKinds.end()) {
    fail("the LibTorch oracle has no neuron '{}': write it in src/torch/torch_neurons.cpp",
         spec.kind);
  }
  if (spec.kind == "plif") {
    const double tau = 1.0 / (1.0 - static_cast<double>(spec.leak));
    a = register_parameter("a", torch::full({1}, -std::log(tau - 1.0), dtype));
  }
}

TorchNeuronsImpl::Run TorchNeuronsImpl::forward(const torch::Tensor& drive,
                                                const torch::Tensor& imposed) {
  if (spec_.kind == "none") return {.output = drive};
  if (spec_.kind == "relu") return {.output = torch::relu(drive)};
  return propagation_ == Propagation::instant ? run_instant(drive, imposed)
                                              : run_delayed(drive, imposed);
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
  for (int64_t i = 0; i < drive.size(0); ++i) {
    membranes.push_back(integrate(rest, drive[i]));
    const torch::Tensor& membrane = membranes.back();
    spikes.push_back(spike(membrane, spec_, at_step(imposed, i)));
    const torch::Tensor reset = reset_spike(spikes.back(), spec_);
    rest = spec_.reset == Reset::soft ? membrane - threshold * reset : membrane * (1.0 - reset);
  }
  return {torch::stack(membranes), torch::stack(spikes)};
}

/// o = [u fires]; u ← λu + y − θo, or λu (1 − o) + y. The spike of local step i is the one that
/// step i's update makes possible: it is fired, and seen by the next stage, one step later.
TorchNeuronsImpl::Run TorchNeuronsImpl::run_delayed(const torch::Tensor& drive,
                                                    const torch::Tensor& imposed) const {
  const double threshold = spec_.threshold;
  std::vector<torch::Tensor> membranes;
  std::vector<torch::Tensor> spikes;
  torch::Tensor membrane = torch::zeros_like(drive[0]);
  torch::Tensor fired = torch::zeros_like(drive[0]);
  for (int64_t i = 0; i < drive.size(0); ++i) {
    const torch::Tensor reset = reset_spike(fired, spec_);
    membrane = spec_.reset == Reset::soft ? integrate(membrane, drive[i]) - threshold * reset
                                          : integrate(membrane * (1.0 - reset), drive[i]);
    fired = spike(membrane, spec_, at_step(imposed, i));
    membranes.push_back(membrane);
    spikes.push_back(fired);
  }
  return {torch::stack(membranes), torch::stack(spikes)};
}

}  // namespace bntt
