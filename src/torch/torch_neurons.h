#pragma once

#include <torch/nn/module.h>

#include "bntt/network_spec.h"

namespace bntt {

/// The neurons of a NeuronSpec, written from their definitions: membranes as tensors in a loop over
/// time. Throws Error for a kind without an oracle.
class TorchNeuronsImpl : public torch::nn::Module {
 public:
  TorchNeuronsImpl(const NeuronSpec& spec, const MapShape& map, Propagation propagation,
                   torch::Dtype dtype);

  struct Run {
    torch::Tensor membrane;  ///< as compared with the threshold; undefined if the output is not
                             ///< spikes
    torch::Tensor output;
  };
  /// `drive`: the normalised current [step, batch, channel, y, x]. If `imposed` is defined, these
  /// spikes are passed on and reset the membrane, while gradients come from the membrane itself.
  Run forward(const torch::Tensor& drive, const torch::Tensor& imposed);

  /// The membrane after a step in which nothing fires: λu + y, or u + k (y − u).
  torch::Tensor integrate(const torch::Tensor& membrane, const torch::Tensor& drive) const;

  torch::Tensor a;       ///< of plif: k = sigmoid(a)
  torch::Tensor weight;  ///< of neunorm: w [channel, y, x]

 private:
  Run run_instant(const torch::Tensor& drive, const torch::Tensor& imposed) const;
  Run run_delayed(const torch::Tensor& drive, const torch::Tensor& imposed) const;
  Run run_lee(const torch::Tensor& drive, const torch::Tensor& imposed) const;
  torch::Tensor normalised(const torch::Tensor& spikes) const;

  NeuronSpec spec_;
  Propagation propagation_;
};
TORCH_MODULE(TorchNeurons);

}  // namespace bntt
