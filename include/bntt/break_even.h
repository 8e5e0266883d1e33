#pragma once

namespace bntt {

/// Densities above which a convolution of spikes is cheaper as a dense one. The density is the
/// number of spikes per position of the pooled input. The two algorithms differ in their last bits,
/// so a run keeps its values.
struct BreakEven {
  float forward = 0.12F;          ///< of the forward pass
  float weight_gradient = 0.20F;  ///< of the gradient of the weights
};

}  // namespace bntt
