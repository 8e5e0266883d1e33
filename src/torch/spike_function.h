#pragma once

#include <torch/types.h>

#include "bntt/network_spec.h"

namespace bntt {

/// [membrane > threshold], or [membrane ≥ threshold], with the surrogate as its derivative. If
/// `imposed` is defined, it replaces the value, while the derivative is still the surrogate at
/// `membrane`. `steps_since_spike` is used only by surrogate stdb.
torch::Tensor spike(const torch::Tensor& membrane, const NeuronSpec& neuron,
                    const torch::Tensor& imposed = {}, const torch::Tensor& steps_since_spike = {});

}  // namespace bntt
