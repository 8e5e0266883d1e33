#pragma once

#include "layers/neurons/neurons.h"

namespace bntt {

/// Neurons `none`: output the normalised current itself, as real values.
class IdentityNeurons final : public Neurons {
 public:
  IdentityNeurons(const StagePlan& plan, Propagation /*propagation*/) : map_(plan.output) {}

  int64_t state_size(const MapShape& /*map*/) const override { return 0; }
  Signal forward(const NeuronInput& input, std::span<const Parameter> parameters,
                 float* carry) const override;
  void backward(const NeuronInput& input, const kernels::SpikeGradient& arriving,
                std::span<Parameter> parameters, kernels::GradientPlace gradient,
                RowGradientSums& sums) const override;

 private:
  MapShape map_;
};

}  // namespace bntt
