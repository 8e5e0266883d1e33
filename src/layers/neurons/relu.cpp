#include "layers/neurons/relu.h"

#include "layers/neurons/blocks.h"

namespace bntt {

Signal Relu::forward(const NeuronInput& input, std::span<const Parameter> /*parameters*/,
                     float* /*carry*/) const {
  const kernels::NeuronShape& shape = input.shape;
  DenseTrain activations{.steps = shape.steps,
                         .batch = shape.batch,
                         .shape = map_,
                         .constant = false,
                         .values = Buffer<float>(shape.steps * shape.batch * shape.frame())};
  for_each_block(shape, [&](const kernels::PixelBlock& block) {
    kernels::relu_forward(shape, input.affine, input.currents, block, activations.values.data());
  });
  return activations;
}

void Relu::backward(const NeuronInput& input, const kernels::SpikeGradient& arriving,
                    std::span<Parameter> /*parameters*/, kernels::GradientPlace gradient,
                    RowGradientSums& sums) const {
  for_each_row_block(input.shape, sums,
                     [&](const kernels::PixelBlock& block, const kernels::GradientSums& row_sums) {
                       kernels::relu_backward(input.shape, input.affine, input.currents, arriving,
                                              block, gradient.floats, row_sums);
                     });
}

}  // namespace bntt
