#include <algorithm>

#include "kernels/lee.h"
#include "kernels/step_row.h"

namespace bntt::kernels {

void lee_backward_reference(const NeuronShape& shape, const Dynamics& dynamics, const LeeRule& rule,
                            const Affine& affine, const Currents& currents,
                            const SpikeGradient& arriving, const PixelBlock& block, float* scratch,
                            float* norm_gradient, const GradientSums& sums) {
  const int64_t channels = shape.channels;
  const int64_t pixels = block.end - block.begin;
  const int64_t size = pixels * channels;
  float* of_next = scratch;        // first the spike counts, then the gradients of the next spike
  float* slopes = scratch + size;  // first the traces f
  float* membranes = scratch + 2 * size;  // [step, pixel, channel]

  std::fill_n(scratch, 2 * size, 0.0F);
  for (int64_t step = 0; step < shape.steps; ++step) {
    const StepRow row(shape, affine, currents, block, step);
    float* v = membranes + step * size;
    for (int64_t i = 0; i < size; ++i) {
      float carry = 0.0F;
      if (step > 0) {
        const float before = v[i - size];
        carry = dynamics.carried(before, dynamics.fires(before));
      }
      v[i] = row.add_to(carry, i / channels, channels, i % channels);
      const float spike = dynamics.fires(v[i]) ? 1.0F : 0.0F;
      slopes[i] = dynamics.leak * slopes[i] + spike;
      of_next[i] += spike;
    }
  }
  for (int64_t i = 0; i < size; ++i) slopes[i] = rule.slope(slopes[i], of_next[i]);

  const float pool_scale = arriving.pool.scale();
  std::fill_n(of_next, size, 0.0F);
  for (int64_t step = shape.steps - 1; step >= 0; --step) {
    const UnitStepRow row(shape, affine, currents, block, step);
    const float* v = membranes + step * size;
    const int64_t frame = step * shape.batch + block.image;
    float* out = norm_gradient + (frame * shape.pixels + block.begin) * channels;
    const float* arriving_frame = arriving.values.floats + frame * arriving.pool.pooled().size();
    for (int64_t c = 0; c < channels; ++c) {
      float sum = 0.0F;
      float sum_unit = 0.0F;
      for (int64_t p = 0; p < pixels; ++p) {
        const int64_t i = p * channels + c;
        const int64_t pooled = arriving.pooled_pixel(block.begin + p);
        const float spike_gradient =
            pooled < 0 ? 0.0F : arriving_frame[pooled * channels + c] * pool_scale;
        const float gradient = dynamics.fires(v[i]) ? slopes[i] * spike_gradient : of_next[i];
        out[i] = gradient;
        of_next[i] = gradient;
        sum += gradient;
        sum_unit += gradient * row.unit(p, channels, c);
      }
      sums.gradient[step * channels + c] += sum;
      sums.gradient_times_unit[step * channels + c] += sum_unit;
    }
  }
}

}  // namespace bntt::kernels
