#pragma once

#include <torch/types.h>

#include "bntt/network_spec.h"

namespace bntt {

/// [membrane > threshold], or [membrane ≥ threshold], with the surrogate as its derivative. With
/// `imposed` (defined), that is the value instead, while the derivative stays the surrogate at
/// `membrane`. `steps_since_spike` is for surrogate stdb alone.
torch::Tensor spike(const torch::Tensor& membrane, const NeuronSpec& neuron,
                    const torch::Tensor& imposed = {}, const torch::Tensor& steps_since_spike = {});

}  // namespace bntt
