#include "kernels/neuron.h"

#include "kernels/kernel_set.h"
#include "kernels/prefetch.h"
#include "kernels/step_row.h"

namespace bntt::kernels {
namespace {

void prefetch_currents(const Currents& currents, int64_t count) {
  if (currents.halves == nullptr) {
    prefetch_row(currents.data + currents.first, count);
  } else {
    prefetch_row(currents.halves + currents.first, count);
  }
}

}  // namespace

void spiking_forward(const KernelSet& set, const NeuronShape& shape, const Dynamics& dynamics,
                     const Affine& affine, const Currents& currents, const PixelBlock& block,
                     float* carry, SpikeWord* spikes) {
  const int64_t words = shape.words_per_pixel();
  for (int64_t step = 0; step < shape.steps; ++step) {
    const StepRow row(shape, affine, currents, block, step);
    if (step + 1 < shape.steps) {
      prefetch_currents(row.current.from(currents.at_step(step + 1) - currents.at_step(step)),
                        (block.end - block.begin) * shape.channels);
    }
    const int64_t pixel = (step * shape.batch + block.image) * shape.pixels + block.begin;
    set.spiking_step(dynamics,
                     {.pixels = block.end - block.begin,
                      .channels = shape.channels,
                      .scale = row.scale,
                      .shift = row.shift,
                      .currents = row.current,
                      .current_stride = shape.channels,
                      .carry = carry + block.image * shape.frame() + block.begin * shape.channels,
                      .carry_stride = shape.channels,
                      .spikes = reinterpret_cast<uint8_t*>(spikes + pixel * words),
                      .spike_stride = words * static_cast<int64_t>(sizeof(SpikeWord))});
  }
}

}  // namespace bntt::kernels
