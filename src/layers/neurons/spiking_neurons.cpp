#include "layers/neurons/spiking_neurons.h"

#include "kernels/kernel_set.h"
#include "layers/neurons/blocks.h"

namespace bntt {

Signal SpikingNeurons::forward(const NeuronInput& input, std::span<const Parameter> parameters,
                               float* carry) const {
  const kernels::NeuronShape& shape = input.shape;
  const kernels::Dynamics dynamics = current_dynamics(parameters);
  SpikeTrain spikes(shape.steps, shape.batch, map_);
  SpikeWord* words = spikes.words().data();
  for_each_block(shape, [&](const kernels::PixelBlock& block) {
    kernels::spiking_forward(kernels::kernels(), shape, dynamics, input.affine, input.currents,
                             block, carry, words);
  });
  return spikes;
}

void SpikingNeurons::backward(const NeuronInput& input, const kernels::SpikeGradient& arriving,
                              std::span<Parameter> parameters, kernels::GradientPlace gradient,
                              RowGradientSums& sums) const {
  const kernels::NeuronShape& shape = input.shape;
  const kernels::Dynamics dynamics = current_dynamics(parameters);
  const int64_t scratch_size = kernels::backward_scratch(shape, dynamics, pixels_per_block(shape));
  for_each_row_block(
      shape, sums, [&](const kernels::PixelBlock& block, const kernels::GradientSums& row_sums) {
        float* scratch = thread_scratch(ScratchSlot::membrane, scratch_size);
        kernels::kernels().spiking_backward(shape, dynamics, input.affine, input.currents, arriving,
                                            block, scratch, gradient, row_sums);
      });
}

}  // namespace bntt
