#pragma once

#include "layers/neurons/neurons.h"

namespace bntt {

/// Leaky integrate-and-fire: see kernels::Dynamics.
class SpikingNeurons : public Neurons {
 public:
  SpikingNeurons(const StagePlan& plan, Propagation propagation)
      : dynamics_(kernels::dynamics_of(plan.neuron, propagation)), map_(plan.output) {}

  std::optional<kernels::Dynamics> dynamics(std::span<const Parameter> parameters) const final {
    return current_dynamics(parameters);
  }
  Signal forward(const NeuronInput& input, std::span<const Parameter> parameters,
                 float* carry) const override;
  bool takes_half_gradients() const override { return true; }
  void backward(const NeuronInput& input, const kernels::SpikeGradient& arriving,
                std::span<Parameter> parameters, kernels::GradientPlace gradient,
                RowGradientSums& sums) const override;

 protected:
  virtual kernels::Dynamics current_dynamics(std::span<const Parameter> /*parameters*/) const {
    return dynamics_;
  }

  kernels::Dynamics dynamics_;  // as given by the spec

 private:
  MapShape map_;
};

}  // namespace bntt
