#include "layers/neurons/identity_neurons.h"

#include "kernels/kernel_set.h"
#include "kernels/step_row.h"
#include "layers/neurons/blocks.h"

namespace bntt {

Signal IdentityNeurons::forward(const NeuronInput& input, std::span<const Parameter> /*parameters*/,
                                float* /*carry*/) const {
  const kernels::NeuronShape& shape = input.shape;
  DenseTrain result{.steps = shape.steps,
                    .batch = shape.batch,
                    .shape = map_,
                    .constant = false,
                    .values = Buffer<float>(shape.steps * shape.batch * shape.frame())};
  for_each_block(shape, [&](const kernels::PixelBlock& block) {
    for (int64_t step = 0; step < shape.steps; ++step) {
      const kernels::StepRow row(shape, input.affine, input.currents, block, step);
      kernels::kernels().add_normalised(
          {.pixels = block.end - block.begin,
           .channels = shape.channels,
           .scale = row.scale,
           .shift = row.shift,
           .currents = row.current,
           .current_stride = shape.channels,
           .out =
               result.values.data() +
               ((step * shape.batch + block.image) * shape.pixels + block.begin) * shape.channels,
           .out_stride = shape.channels});
    }
  });
  return result;
}

void IdentityNeurons::backward(const NeuronInput& input, const kernels::SpikeGradient& arriving,
                               std::span<Parameter> /*parameters*/, kernels::GradientPlace gradient,
                               RowGradientSums& sums) const {
  const kernels::NeuronShape& shape = input.shape;
  if (arriving.values.floats != gradient.floats) {
    const int64_t pooled = arriving.pool.pooled().size();
    parallel_for(shape.steps * shape.batch, [&](int64_t frame) {
      kernels::unpool_frame(arriving.pool, arriving.values.floats + frame * pooled,
                            gradient.floats + frame * shape.frame());
    });
  }
  for_each_row_block(shape, sums,
                     [&](const kernels::PixelBlock& block, const kernels::GradientSums& row_sums) {
                       kernels::kernels().gradient_sums(shape, input.affine, input.currents,
                                                        gradient.view(), block, row_sums);
                     });
}

}  // namespace bntt
