#pragma once

#include "layers/neurons/neurons.h"

namespace bntt {

/// The readout: accumulates its normalised current over the steps, v = λ v + y, without a
/// threshold.
class Accumulator final : public Neurons {
 public:
  explicit Accumulator(const StagePlan& plan) : leak_(plan.neuron.leak), map_(plan.output) {}

  /// Returns y of every step; the voltage is the carry.
  Signal forward(const NeuronInput& input, std::span<const Parameter> parameters,
                 float* carry) const override;
  /// `arriving` is ∂L/∂y [step, batch, class], including the gradient through the voltage.
  void backward(const NeuronInput& input, const kernels::SpikeGradient& arriving,
                std::span<Parameter> parameters, kernels::GradientPlace gradient,
                RowGradientSums& sums) const override;

 private:
  float leak_;
  MapShape map_;
};

}  // namespace bntt
