#include "layers/neurons/spiking.h"

#include "kernels/kernel_set.h"
#include "layers/neurons/blocks.h"

namespace bntt {

Spiking::Spiking(const StagePlan& plan, Propagation propagation)
    : map_(plan.output), dynamics_(kernels::dynamics_of(plan.neuron, propagation)) {}

Signal Spiking::forward(const kernels::NeuronShape& shape, const kernels::Affine& affine,
                        const kernels::Currents& currents, float* carry) const {
  SpikeTrain spikes(shape.steps, shape.batch, map_);
  SpikeWord* words = spikes.words().data();
  for_each_block(shape, [&](const kernels::PixelBlock& block) {
    kernels::spiking_forward(kernels::kernels(), shape, dynamics_, affine, currents, block, carry,
                             words);
  });
  return spikes;
}

void Spiking::step(const kernels::NeuronRow& row) const {
  kernels::kernels().spiking_step(dynamics_, row);
}

void Spiking::backward(const kernels::NeuronShape& shape, const kernels::Affine& affine,
                       const kernels::Currents& currents, const kernels::SpikeGradient& arriving,
                       float* norm_gradient, RowGradientSums& sums) const {
  const int64_t scratch_size = kernels::backward_scratch(shape, pixels_per_block(shape));
  for_each_row_block(
      shape, sums, [&](const kernels::PixelBlock& block, const kernels::GradientSums& row_sums) {
        float* scratch = thread_scratch(ScratchSlot::membrane, scratch_size);
        kernels::kernels().spiking_backward(shape, dynamics_, affine, currents, arriving, block,
                                            scratch, norm_gradient, row_sums);
      });
}

}  // namespace bntt
