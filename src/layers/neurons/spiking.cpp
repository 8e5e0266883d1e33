#include "layers/neurons/spiking.h"

#include "layers/neurons/blocks.h"

namespace bntt {

Spiking::Spiking(const StagePlan& plan, Propagation propagation)
    : map_(plan.output),
      dynamics_{
          .leak = plan.neuron.kind == NeuronKind::integrate_and_fire ? 1.0F : plan.neuron.leak,
          .threshold = plan.neuron.threshold,
          .reset = plan.neuron.reset,
          .reset_before_leak = propagation == Propagation::instant,
          .detach_reset = plan.neuron.detach_reset,
          .surrogate = plan.neuron.surrogate} {}

Signal Spiking::forward(const kernels::NeuronShape& shape, const kernels::Affine& affine,
                        const kernels::Currents& currents, float* carry) const {
  SpikeTrain spikes(shape.steps, shape.batch, map_);
  SpikeWord* words = spikes.words().data();
  for_each_block(shape, [&](const kernels::PixelBlock& block) {
    kernels::spiking_forward(shape, dynamics_, affine, currents, block, carry, words);
  });
  return spikes;
}

void Spiking::backward(const kernels::NeuronShape& shape, const kernels::Affine& affine,
                       const kernels::Currents& currents, const Signal& output,
                       const kernels::SpikeGradient& arriving, float* norm_gradient,
                       RowGradientSums& sums) const {
  const SpikeWord* spikes = std::get<SpikeTrain>(output).words().data();
  const int64_t scratch = shape.steps * pixels_per_block(shape) * shape.channels;
  for_each_row_block(
      shape, sums,
      [&](const kernels::PixelBlock& block, const kernels::GradientSums& row_sums) {
        float* membranes = thread_scratch(ScratchSlot::membrane, scratch);
        kernels::spiking_backward(shape, dynamics_, affine, currents, spikes, arriving, block,
                                  membranes, norm_gradient, row_sums);
      });
}

}  // namespace bntt
