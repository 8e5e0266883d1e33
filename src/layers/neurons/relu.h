#pragma once

#include "layers/neurons/neurons.h"

namespace bntt {

/// The neurons of an ANN: stateless, real-valued.
class Relu final : public Neurons {
 public:
  explicit Relu(const MapShape& map) : map_(map) {}

  Signal forward(const kernels::NeuronShape& shape, const kernels::Affine& affine,
                 const kernels::Currents& currents, float* carry) const override;
  void backward(const kernels::NeuronShape& shape, const kernels::Affine& affine,
                const kernels::Currents& currents, const kernels::SpikeGradient& arriving,
                float* norm_gradient, RowGradientSums& sums) const override;

 private:
  MapShape map_;
};

}  // namespace bntt
