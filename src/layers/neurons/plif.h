#pragma once

#include "layers/neurons/spiking.h"

namespace bntt {

/// PLIF (Fang et al. 2021): v = u + k (y − u) = (1 − k) u + k y with k = sigmoid(a), one a per
/// stage. So the leak is 1 − k, and the input has the factor k. `a` starts where 1 − k is the leak
/// of the spec.
class ParametricLif final : public Spiking {
 public:
  ParametricLif(const StagePlan& plan, Propagation propagation);

  std::vector<ParameterDeclaration> parameters() const override;
  float input_factor(std::span<const Parameter> parameters) const override;
  void backward(const NeuronInput& input, const kernels::SpikeGradient& arriving,
                std::span<Parameter> parameters, float* gradient,
                RowGradientSums& sums) const override;

 private:
  kernels::Dynamics current_dynamics(std::span<const Parameter> parameters) const override;
};

}  // namespace bntt
