#pragma once

#include "layers/neurons/neurons.h"

namespace bntt {

/// The readout: adds up its normalised current over the steps, without leak and without threshold.
class Accumulator final : public Neurons {
 public:
  /// Returns an empty signal; the voltage is the carry.
  Signal forward(const kernels::NeuronShape& shape, const kernels::Affine& affine,
                 const kernels::Currents& currents, float* carry) const override;
  /// `arriving` is ∂L/∂voltage [batch, class], the same for every step.
  void backward(const kernels::NeuronShape& shape, const kernels::Affine& affine,
                const kernels::Currents& currents, const kernels::SpikeGradient& arriving,
                float* norm_gradient, RowGradientSums& sums) const override;
};

}  // namespace bntt
