#pragma once

#include "kernels/neuron.h"

namespace bntt::kernels {

/// How the gradient passes through neurons in the rule of Lee et al. (2020). Their forward pass is
/// that of Dynamics with a hard reset. In the backward pass, ∂o/∂v is one slope per neuron at the
/// steps where it fired and 0 elsewhere; no gradient passes through a reset, and the leak does not
/// damp the gradient. So every current gets the gradient of the next spike, and currents after the
/// last spike get none:
///
///   ∂L/∂v_t = slope · ∂L/∂o_t where it fired, else ∂L/∂v_{t+1}
///   slope = height · ([f > 1e-3] + ln λ · f / n),  f = Σ_k λ^(T − t_k),  n = its spikes in T steps
struct LeeRule {
  float log_leak = 0.0F;
  float height = 1.0F;

  static constexpr float kLeastTrace = 1e-3F;

  float slope(float trace, float spikes) const {
    if (spikes == 0.0F) return 0.0F;
    return ((trace > kLeastTrace ? 1.0F : 0.0F) + log_leak * trace / spikes) * height;
  }
};

/// Like SpikingBackward, but with this rule. `scratch` holds lee_scratch() floats.
using LeeBackward = void(const NeuronShape& shape, const Dynamics& dynamics, const LeeRule& rule,
                         const Affine& affine, const Currents& currents,
                         const SpikeGradient& arriving, const PixelBlock& block, float* scratch,
                         float* norm_gradient, const GradientSums& sums);

/// The membranes of every step of a block, the slopes, and the gradient of the next spike.
inline int64_t lee_scratch(const NeuronShape& shape, int64_t block_pixels) {
  return (shape.steps + 2) * block_pixels * shape.channels;
}

/// Plain loops that define the result.
LeeBackward lee_backward_reference;

}  // namespace bntt::kernels
