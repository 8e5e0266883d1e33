#pragma once

#include "layers/neurons/neurons.h"

namespace bntt {

/// The readout: adds up its normalised current over the steps, without leak and without threshold.
class Accumulator final : public Neurons {
 public:
  /// Returns an empty signal; the voltage is the carry.
  Signal forward(const NeuronInput& input, std::span<const Parameter> parameters,
                 float* carry) const override;
  /// `arriving` is ∂L/∂voltage [batch, class], the same for every step.
  void backward(const NeuronInput& input, const kernels::SpikeGradient& arriving,
                std::span<Parameter> parameters, float* gradient,
                RowGradientSums& sums) const override;
};

}  // namespace bntt
