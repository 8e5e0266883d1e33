#include "kernels/neuron.h"

#include <algorithm>

#include "kernels/surrogate.h"

namespace bntt::kernels {
namespace {

/// One step's view of a block of pixels.
struct StepRow {
  const float* current;  // [pixel, channel]
  const float* mean;
  const float* inverse_deviation;
  const float* gain;

  StepRow(const NeuronShape& shape, const Affine& affine, const Currents& currents,
          const PixelBlock& block, int64_t step)
      : current(currents.data + step * currents.step_stride + block.image * shape.frame() +
                block.begin * shape.channels),
        mean(affine.mean + affine.row(step, block.image) * shape.channels),
        inverse_deviation(affine.inverse_deviation +
                          affine.row(step, block.image) * shape.channels),
        gain(affine.gain + step * affine.gain_step_stride) {}

  float unit(int64_t pixel, int64_t channels, int64_t c) const {
    return (current[pixel * channels + c] - mean[c]) * inverse_deviation[c];
  }
};

float carried(const Dynamics& dynamics, float v, bool fired) {
  if (dynamics.reset == Reset::hard) return fired ? 0.0F : dynamics.leak * v;
  const float drop = fired ? dynamics.threshold : 0.0F;
  return dynamics.reset_before_leak ? dynamics.leak * (v - drop) : dynamics.leak * v - drop;
}

/// ∂c/∂o, which a detached reset leaves out.
float reset_slope(const Dynamics& dynamics, float v) {
  if (dynamics.reset == Reset::hard) return -dynamics.leak * v;
  return dynamics.reset_before_leak ? -dynamics.leak * dynamics.threshold : -dynamics.threshold;
}

bool is_set(const SpikeWord* pixel_words, int64_t c) {
  return ((pixel_words[c / kSpikesPerWord] >> (c % kSpikesPerWord)) & 1) != 0;
}

/// The arriving gradient of one pixel, or null where pooling dropped it.
const float* arriving_pixel(const NeuronShape& shape, const SpikeGradient& arriving, int64_t step,
                            int64_t image, int64_t pixel) {
  const MapShape pooled = arriving.pool.pooled();
  const int64_t y = pixel / arriving.pool.source.width / arriving.pool.pool_height;
  const int64_t x = pixel % arriving.pool.source.width / arriving.pool.pool_width;
  if (y >= pooled.height || x >= pooled.width) return nullptr;
  return arriving.data +
         ((step * shape.batch + image) * pooled.pixels() + y * pooled.width + x) * shape.channels;
}

template <SurrogateKind kind>
void spiking_backward_as(const NeuronShape& shape, const Dynamics& dynamics, const Affine& affine,
                         const Currents& currents, const SpikeWord* spikes,
                         const SpikeGradient& arriving, const PixelBlock& block, float* membranes,
                         float* norm_gradient, const GradientSums& sums) {
  const int64_t channels = shape.channels;
  const int64_t pixels = block.end - block.begin;
  const int64_t size = pixels * channels;
  const int64_t words = shape.words_per_pixel();
  const auto step_spikes = [&](int64_t step, int64_t pixel) {
    return spikes +
           ((step * shape.batch + block.image) * shape.pixels + block.begin + pixel) * words;
  };

  for (int64_t step = 0; step < shape.steps; ++step) {
    const StepRow row(shape, affine, currents, block, step);
    float* v = membranes + step * size;
    const float* v_before = v - size;
    for (int64_t p = 0; p < pixels; ++p) {
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t i = p * channels + c;
        const float carry =
            step == 0 ? 0.0F
                      : carried(dynamics, v_before[i], is_set(step_spikes(step - 1, p), c));
        v[i] = carry + row.gain[c] * row.unit(p, channels, c);
      }
    }
  }

  const float pool_scale = arriving.pool.scale();
  for (int64_t step = shape.steps - 1; step >= 0; --step) {
    const StepRow row(shape, affine, currents, block, step);
    const float* v = membranes + step * size;
    const bool last = step == shape.steps - 1;
    float* out = norm_gradient + ((step * shape.batch + block.image) * shape.pixels + block.begin) *
                                     channels;
    const float* out_after = out + shape.batch * shape.frame();
    float* sum = sums.gradient + step * channels;
    float* sum_unit = sums.gradient_times_unit + step * channels;
    for (int64_t p = 0; p < pixels; ++p) {
      const SpikeWord* bits = step_spikes(step, p);
      const float* from_above =
          arriving_pixel(shape, arriving, step, block.image, block.begin + p);
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t i = p * channels + c;
        // ∂L/∂c_t = ∂L/∂v_{t+1} = ∂L/∂y_{t+1}
        const float carry_gradient = last ? 0.0F : out_after[i];
        float spike_gradient = from_above == nullptr ? 0.0F : from_above[c] * pool_scale;
        if (!dynamics.detach_reset) spike_gradient += carry_gradient * reset_slope(dynamics, v[i]);
        const bool cleared = dynamics.reset == Reset::hard && is_set(bits, c);
        const float through_carry = cleared ? 0.0F : dynamics.leak * carry_gradient;
        const float gradient =
            through_carry +
            spike_gradient *
                surrogate_slope<kind>(v[i], dynamics.threshold, dynamics.surrogate.alpha);
        out[i] = gradient;
        sum[c] += gradient;
        sum_unit[c] += gradient * row.unit(p, channels, c);
      }
    }
  }
}

}  // namespace

void spiking_forward(const NeuronShape& shape, const Dynamics& dynamics, const Affine& affine,
                     const Currents& currents, const PixelBlock& block, float* carry,
                     SpikeWord* spikes) {
  const int64_t channels = shape.channels;
  const int64_t words = shape.words_per_pixel();
  float* block_carry = carry + block.image * shape.frame() + block.begin * channels;
  for (int64_t step = 0; step < shape.steps; ++step) {
    const StepRow row(shape, affine, currents, block, step);
    SpikeWord* block_spikes =
        spikes + ((step * shape.batch + block.image) * shape.pixels + block.begin) * words;
    for (int64_t p = 0; p < block.end - block.begin; ++p) {
      for (int64_t w = 0; w < words; ++w) {
        const int64_t first = w * kSpikesPerWord;
        const int64_t count = std::min(kSpikesPerWord, channels - first);
        SpikeWord bits = 0;
        for (int64_t b = 0; b < count; ++b) {
          const int64_t c = first + b;
          float& kept = block_carry[p * channels + c];
          const float v = kept + row.gain[c] * row.unit(p, channels, c);
          const bool fired = v > dynamics.threshold;
          bits |= static_cast<SpikeWord>(fired) << b;
          kept = carried(dynamics, v, fired);
        }
        block_spikes[p * words + w] = bits;
      }
    }
  }
}

void spiking_backward(const NeuronShape& shape, const Dynamics& dynamics, const Affine& affine,
                      const Currents& currents, const SpikeWord* spikes,
                      const SpikeGradient& arriving, const PixelBlock& block, float* membranes,
                      float* norm_gradient, const GradientSums& sums) {
  const auto run = [&](auto kind) {
    spiking_backward_as<kind()>(shape, dynamics, affine, currents, spikes, arriving, block,
                                membranes, norm_gradient, sums);
  };
  using enum SurrogateKind;
  switch (dynamics.surrogate.kind) {
    case triangle: return run(std::integral_constant<SurrogateKind, triangle>{});
    case sigmoid: return run(std::integral_constant<SurrogateKind, sigmoid>{});
    case arctan: return run(std::integral_constant<SurrogateKind, arctan>{});
    case rectangle: return run(std::integral_constant<SurrogateKind, rectangle>{});
  }
}

void relu_forward(const NeuronShape& shape, const Affine& affine, const Currents& currents,
                  const PixelBlock& block, float* activations) {
  const int64_t channels = shape.channels;
  for (int64_t step = 0; step < shape.steps; ++step) {
    const StepRow row(shape, affine, currents, block, step);
    float* out = activations +
                 ((step * shape.batch + block.image) * shape.pixels + block.begin) * channels;
    for (int64_t p = 0; p < block.end - block.begin; ++p) {
      for (int64_t c = 0; c < channels; ++c) {
        out[p * channels + c] = std::max(0.0F, row.gain[c] * row.unit(p, channels, c));
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
    const StepRow row(shape, affine, currents, block, step);
    float* out = norm_gradient +
                 ((step * shape.batch + block.image) * shape.pixels + block.begin) * channels;
    for (int64_t p = 0; p < block.end - block.begin; ++p) {
      const float* from_above =
          arriving_pixel(shape, arriving, step, block.image, block.begin + p);
      for (int64_t c = 0; c < channels; ++c) {
        const float unit = row.unit(p, channels, c);
        const bool active = from_above != nullptr && row.gain[c] * unit > 0.0F;
        const float gradient = active ? from_above[c] * pool_scale : 0.0F;
        out[p * channels + c] = gradient;
        sums.gradient[step * channels + c] += gradient;
        sums.gradient_times_unit[step * channels + c] += gradient * unit;
      }
    }
  }
}

void norm_backward(const NeuronShape& shape, const Affine& affine, const NormGradientRows& rows,
                   const Currents& currents, const PixelBlock& block, float* gradient) {
  const int64_t channels = shape.channels;
  const bool constant = currents.step_stride == 0;
  float* block_gradient = gradient + block.image * shape.frame() + block.begin * channels;
  for (int64_t step = 0; step < shape.steps; ++step) {
    const StepRow row(shape, affine, currents, block, step);
    const int64_t r = affine.row(step, block.image) * channels;
    float* at_step = block_gradient + step * shape.batch * shape.frame();
    for (int64_t p = 0; p < block.end - block.begin; ++p) {
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t i = p * channels + c;
        const float x_gradient = rows.scale[r + c] * at_step[i] -
                                 rows.slope[r + c] * row.unit(p, channels, c) - rows.offset[r + c];
        if (constant && step > 0) {
          block_gradient[i] += x_gradient;
        } else {
          at_step[i] = x_gradient;
        }
      }
    }
  }
}

}  // namespace bntt::kernels
