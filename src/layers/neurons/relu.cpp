#include "layers/neurons/relu.h"

#include "layers/neurons/blocks.h"

namespace bntt {

Signal Relu::forward(const kernels::NeuronShape& shape, const kernels::Affine& affine,
                     const kernels::Currents& currents, float* /*carry*/) const {
  DenseTrain activations{.steps = shape.steps,
                         .batch = shape.batch,
                         .shape = map_,
                         .constant = false,
                         .values = Buffer<float>(shape.steps * shape.batch * shape.frame())};
  for_each_block(shape, [&](const kernels::PixelBlock& block) {
    kernels::relu_forward(shape, affine, currents, block, activations.values.data());
  });
  return activations;
}

void Relu::backward(const kernels::NeuronShape& shape, const kernels::Affine& affine,
                    const kernels::Currents& currents, const kernels::SpikeGradient& arriving,
                    float* norm_gradient, RowGradientSums& sums) const {
  for_each_row_block(
      shape, sums, [&](const kernels::PixelBlock& block, const kernels::GradientSums& row_sums) {
        kernels::relu_backward(shape, affine, currents, arriving, block, norm_gradient, row_sums);
      });
}

}  // namespace bntt
