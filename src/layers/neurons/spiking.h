#pragma once

#include "layers/neurons/neurons.h"

namespace bntt {

/// Leaky integrate-and-fire, or plain integrate-and-fire (leak 1).
class Spiking final : public Neurons {
 public:
  Spiking(const StagePlan& plan, Propagation propagation);

  Signal forward(const kernels::NeuronShape& shape, const kernels::Affine& affine,
                 const kernels::Currents& currents, float* carry) const override;
  bool has_step() const override { return true; }
  void step(const kernels::NeuronRow& row) const override;
  void backward(const kernels::NeuronShape& shape, const kernels::Affine& affine,
                const kernels::Currents& currents, const kernels::SpikeGradient& arriving,
                float* norm_gradient, RowGradientSums& sums) const override;

 private:
  MapShape map_;
  kernels::Dynamics dynamics_;
};

}  // namespace bntt
