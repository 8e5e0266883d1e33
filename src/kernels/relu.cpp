#include <algorithm>

#include "kernels/neuron.h"
#include "kernels/step_row.h"

namespace bntt::kernels {

void relu_forward(const NeuronShape& shape, const Affine& affine, const Currents& currents,
                  const PixelBlock& block, float* activations) {
  const int64_t channels = shape.channels;
  for (int64_t step = 0; step < shape.steps; ++step) {
    const StepRow row(shape, affine, currents, block, step);
    float* out =
        activations + ((step * shape.batch + block.image) * shape.pixels + block.begin) * channels;
    for (int64_t p = 0; p < block.end - block.begin; ++p) {
      for (int64_t c = 0; c < channels; ++c) {
        out[p * channels + c] = std::max(0.0F, row.add_to(0.0F, p, channels, c));
      }
    }
  }
}

void relu_backward(const NeuronShape& shape, const Affine& affine, const Currents& currents,
                   const SpikeGradient& arriving, const PixelBlock& block, float* norm_gradient,
                   const GradientSums& sums) {
  const int64_t channels = shape.channels;
  const float pool_scale = arriving.pool.scale();
  for (int64_t step = 0; step < shape.steps; ++step) {
    const UnitStepRow row(shape, affine, currents, block, step);
    float* out = norm_gradient +
                 ((step * shape.batch + block.image) * shape.pixels + block.begin) * channels;
    const float* arriving_frame =
        arriving.values.floats + (step * shape.batch + block.image) * arriving.pool.pooled().size();
    for (int64_t p = 0; p < block.end - block.begin; ++p) {
      const int64_t pooled = arriving.pooled_pixel(block.begin + p);
      const float* from_above = arriving_frame + pooled * channels;
      for (int64_t c = 0; c < channels; ++c) {
        const bool active = pooled >= 0 && row.add_to(0.0F, p, channels, c) > 0.0F;
        const float gradient = active ? from_above[c] * pool_scale : 0.0F;
        out[p * channels + c] = gradient;
        sums.gradient[step * channels + c] += gradient;
        sums.gradient_times_unit[step * channels + c] += gradient * row.unit(p, channels, c);
      }
    }
  }
}

}  // namespace bntt::kernels
