#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "kernels/kernel_set.h"
#include "kernels/step_row.h"

// Plain loops that define what every faster variant computes, bit for bit.
namespace bntt::kernels {
namespace {

void spiking_step(const Dynamics& dynamics, const NeuronRow& row) {
  constexpr int64_t kBits = 8;
  for (int64_t p = 0; p < row.pixels; ++p) {
    for (int64_t first = 0; first < row.channels; first += kBits) {
      unsigned bits = 0;
      for (int64_t c = first; c < std::min(first + kBits, row.channels); ++c) {
        float& kept = row.carry[p * row.carry_stride + c];
        const float current = row.currents.at(p * row.current_stride + c);
        const float v = dynamics.membrane(add_affine(kept, current, row.scale[c], row.shift[c]));
        const bool fired = dynamics.fires(v);
        bits |= static_cast<unsigned>(fired) << (c - first);
        kept = dynamics.carried(v, fired);
      }
      row.spikes[p * row.spike_stride + first / kBits] = static_cast<uint8_t>(bits);
    }
  }
}

void spiking_backward(const NeuronShape& shape, const Dynamics& dynamics, const Affine& affine,
                      const Currents& currents, const SpikeGradient& arriving,
                      const PixelBlock& block, float* scratch, GradientPlace norm_gradient,
                      const GradientSums& sums) {
  const int64_t channels = shape.channels;
  const int64_t pixels = block.end - block.begin;
  const int64_t size = pixels * channels;
  float* carried_gradient = scratch;  // ∂L/∂c_t = ∂L/∂v_{t+1}
  float* membranes = scratch + size;  // [step, pixel, channel]
  const bool traced = dynamics.surrogate.kind == SurrogateKind::stdb;
  float* traces = membranes + shape.steps * size;  // [step, pixel, channel], for surrogate stdb

  for (int64_t step = 0; step < shape.steps; ++step) {
    const StepRow row(shape, affine, currents, block, step);
    float* v = membranes + step * size;
    for (int64_t p = 0; p < pixels; ++p) {
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t i = p * channels + c;
        float carry = 0.0F;
        float trace = dynamics.first_trace();
        if (step > 0) {
          const float before = v[i - size];
          const bool fired = dynamics.fires(before);
          carry = dynamics.carried(before, fired);
          if (traced) trace = dynamics.next_trace(traces[(step - 1) * size + i], fired);
        }
        if (traced) traces[step * size + i] = trace;
        v[i] = dynamics.membrane(row.add_to(carry, p, channels, c));
      }
    }
  }

  const float pool_scale = arriving.pool.scale();
  std::fill_n(carried_gradient, size, 0.0F);
  for (int64_t step = shape.steps - 1; step >= 0; --step) {
    const UnitStepRow row(shape, affine, currents, block, step);
    const float* v = membranes + step * size;
    const int64_t frame = step * shape.batch + block.image;
    const GradientPlace out = norm_gradient.from((frame * shape.pixels + block.begin) * channels);
    const GradientView arriving_frame = arriving.values.from(frame * arriving.pool.pooled().size());
    for (int64_t c = 0; c < channels; ++c) {
      float sum = 0.0F;
      float sum_unit = 0.0F;
      for (int64_t p = 0; p < pixels; ++p) {
        const int64_t i = p * channels + c;
        const int64_t pooled = arriving.pooled_pixel(block.begin + p);
        const float spike_gradient =
            pooled < 0 ? 0.0F : arriving_frame.at(pooled * channels + c) * pool_scale;
        const float gradient = dynamics.membrane_gradient(v[i], spike_gradient, carried_gradient[i],
                                                          traced ? traces[step * size + i] : 0.0F);
        const float stored = out.set(i, gradient);
        carried_gradient[i] = gradient;
        sum += stored;
        sum_unit += stored * row.unit(p, channels, c);
      }
      sums.gradient[step * channels + c] += sum;
      sums.gradient_times_unit[step * channels + c] += sum_unit;
    }
  }
}

void norm_backward(const NeuronShape& shape, const Affine& affine, const NormGradientRows& rows,
                   const Currents& currents, const PixelBlock& block, GradientPlace gradient,
                   float* step_sum) {
  const int64_t channels = shape.channels;
  const bool constant = currents.step_stride == 0;
  const int64_t first = block.image * shape.frame() + block.begin * channels;
  for (int64_t step = 0; step < shape.steps; ++step) {
    const UnitStepRow row(shape, affine, currents, block, step);
    const int64_t r = affine.row(step, block.image) * channels;
    const GradientPlace at_step = gradient.from(first + step * shape.batch * shape.frame());
    for (int64_t p = 0; p < block.end - block.begin; ++p) {
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t i = p * channels + c;
        const float x_gradient = (rows.scale[r + c] * at_step.view().at(i) -
                                  rows.slope[r + c] * row.unit(p, channels, c)) -
                                 rows.offset[r + c];
        if (constant) {
          step_sum[first + i] += x_gradient;
        } else {
          at_step.set(i, x_gradient);
        }
      }
    }
  }
}

void add_normalised(const NormalisedRow& row) {
  for (int64_t p = 0; p < row.pixels; ++p) {
    for (int64_t c = 0; c < row.channels; ++c) {
      float& out = row.out[p * row.out_stride + c];
      out = add_affine(row.accumulate ? out : 0.0F, row.currents.at(p * row.current_stride + c),
                       row.scale[c], row.shift[c]);
    }
  }
}

void gradient_sums(const NeuronShape& shape, const Affine& affine, const Currents& currents,
                   GradientView gradient, const PixelBlock& block, const GradientSums& sums) {
  const int64_t channels = shape.channels;
  for (int64_t step = 0; step < shape.steps; ++step) {
    const UnitStepRow row(shape, affine, currents, block, step);
    const GradientView of_step =
        gradient.from(((step * shape.batch + block.image) * shape.pixels + block.begin) * channels);
    for (int64_t c = 0; c < channels; ++c) {
      float sum = 0.0F;
      float sum_unit = 0.0F;
      for (int64_t p = 0; p < block.end - block.begin; ++p) {
        const float at = of_step.at(p * channels + c);
        sum += at;
        sum_unit += at * row.unit(p, channels, c);
      }
      sums.gradient[step * channels + c] += sum;
      sums.gradient_times_unit[step * channels + c] += sum_unit;
    }
  }
}

void channel_moments(const float* values, int64_t samples, int64_t channels, float* mean,
                     float* squared_deviations) {
  for (int64_t c = 0; c < channels; ++c) {
    const float shift = values[c];
    double sum = 0.0;
    double squares = 0.0;
    for (int64_t run = 0; run < samples; run += kMomentRun) {
      float run_sum = 0.0F;
      float run_squares = 0.0F;
      for (int64_t s = run; s < std::min(samples, run + kMomentRun); ++s) {
        const float deviation = values[s * channels + c] - shift;
        run_sum += deviation;
        run_squares += deviation * deviation;
      }
      sum += run_sum;
      squares += run_squares;
    }
    const auto count = static_cast<double>(samples);
    mean[c] = static_cast<float>(shift + sum / count);
    squared_deviations[c] = static_cast<float>(std::max(0.0, squares - sum * sum / count));
  }
}

void add_spikes(const PooledMap& map, const SpikeWord* words, float weight, float* dense) {
  const MapShape pooled = map.pooled();
  const int64_t words_per_pixel = (map.source.channels + kSpikesPerWord - 1) / kSpikesPerWord;
  const float value = weight * map.scale();
  for (int64_t y = 0; y < pooled.height * map.pool_height; ++y) {
    for (int64_t x = 0; x < pooled.width * map.pool_width; ++x) {
      const SpikeWord* pixel = words + (y * map.source.width + x) * words_per_pixel;
      float* out =
          dense + (y / map.pool_height * pooled.width + x / map.pool_width) * pooled.channels;
      for (int64_t w = 0; w < words_per_pixel; ++w) {
        for (SpikeWord bits = pixel[w]; bits != 0; bits &= bits - 1) {
          out[w * kSpikesPerWord + std::countr_zero(bits)] += value;
        }
      }
    }
  }
}

void list_columns(const SpikeConvolution& convolution, const SpikeWord* frame,
                  const SpikeLists& /*by_pixel*/, const SpikeLists& columns) {
  const PooledMap& map = convolution.map;
  const ConvGeometry& geometry = convolution.geometry;
  const MapShape pooled = map.pooled();
  const int64_t words = (map.source.channels + kSpikesPerWord - 1) / kSpikesPerWord;
  int32_t* next = columns.entries;
  columns.starts[0] = 0;
  for (int64_t i = 0; i < convolution.output().height * pooled.width; ++i) {
    const int64_t x = i % pooled.width;
    for (int64_t ky = 0; ky < geometry.kernel && is_seen(geometry, x); ++ky) {
      const int64_t y = i / pooled.width * geometry.stride - geometry.padding + ky;
      if (y < 0 || y >= pooled.height) continue;
      for (int64_t place = 0; place < map.pool_height * map.pool_width; ++place) {
        const int64_t from_y = y * map.pool_height + place / map.pool_width;
        const int64_t from_x = x * map.pool_width + place % map.pool_width;
        const SpikeWord* pixel = frame + (from_y * map.source.width + from_x) * words;
        for (int64_t c = 0; c < pooled.channels; ++c) {
          if ((pixel[c / kSpikesPerWord] >> (c % kSpikesPerWord) & 1) == 0) continue;
          *next++ = static_cast<int32_t>(ky * pooled.channels + c);
        }
      }
    }
    columns.starts[i + 1] = static_cast<int32_t>(next - columns.entries);
  }
}

void spike_conv_row(const SpikeConvolution& convolution, const ColumnSums& sums,
                    const RowOutput& output) {
  const ConvGeometry& geometry = convolution.geometry;
  const int64_t columns = convolution.map.pooled().width;
  const int64_t width = convolution.block_channels;
  for (int64_t x = 0; x < convolution.output().width; ++x) {
    for (int64_t k = 0; k < output.channels; ++k) {
      float sum = 0.0F;
      for (int64_t kx = 0; kx < geometry.kernel; ++kx) {
        const int64_t column = x * geometry.stride - geometry.padding + kx;
        if (column < 0 || column >= columns) continue;
        for (int32_t e = sums.starts[column]; e < sums.starts[column + 1]; ++e) {
          sum += sums.block_weights[(geometry.kernel * sums.entries[e] + kx) * width + k];
        }
      }
      float& out = output.data[x * output.stride + k];
      out = sums.accumulate ? out + sums.factor * sum : sums.factor * sum;
    }
  }
}

void pattern_conv_row(const PatternConvolution& convolution, const uint8_t* patterns,
                      const float* block_table, const RowOutput& output) {
  const int64_t columns = 3 / convolution.pixels_together();
  for (int64_t x = 0; x < convolution.map.width; ++x) {
    for (int64_t k = 0; k < output.channels; ++k) {
      float sum = 0.0F;
      for (int64_t group = 0; group < convolution.groups(); ++group) {
        const int64_t pattern =
            patterns[group / columns * convolution.pattern_row() + x + group % columns];
        sum += block_table[(group * convolution.patterns() + pattern) * convolution.block_channels +
                           k];
      }
      output.data[x * output.stride + k] = sum;
    }
  }
}

void spike_conv_weight_gradient(const SpikeConvolution& convolution, const SpikePlane& plane,
                                const SpikeLists& by_channel, const float* bordered,
                                float* block_gradient) {
  const ConvGeometry& geometry = convolution.geometry;
  const int64_t channels = convolution.map.source.channels;
  const int64_t width = convolution.block_channels;
  const int64_t classes = tap_classes(geometry);
  const int64_t row = gradient_border(convolution).width;
  const float factor = plane.weight * convolution.map.scale();
  for (int64_t tap = 0; tap < geometry.taps(); ++tap) {
    const int64_t ky = tap / geometry.kernel;
    const int64_t kx = tap % geometry.kernel;
    const int64_t shift = ky / geometry.stride * row + kx / geometry.stride;
    for (int64_t in = 0; in < channels; ++in) {
      const int64_t list = (in * classes + ky % geometry.stride) * classes + kx % geometry.stride;
      for (int64_t k = 0; k < width; ++k) {
        float sum = 0.0F;
        for (int32_t e = by_channel.starts[list]; e < by_channel.starts[list + 1]; ++e) {
          sum += bordered[(by_channel.entries[e] - shift) * width + k];
        }
        block_gradient[((ky * channels + in) * geometry.kernel + kx) * width + k] += factor * sum;
      }
    }
  }
}

int64_t count_set_bits(const SpikeWord* words, int64_t count) {
  int64_t spikes = 0;
  for (int64_t i = 0; i < count; ++i) spikes += std::popcount(words[i]);
  return spikes;
}

void sum_rows(const SpikeLists& lists, int64_t count, const RowSums& sums) {
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t c = 0; c < sums.columns; ++c) {
      float sum = 0.0F;
      for (int32_t e = lists.starts[i]; e < lists.starts[i + 1]; ++e) {
        sum += sums.table[lists.entries[e] * sums.width + c];
      }
      float& out = sums.out[i * sums.out_stride + c];
      out = sums.accumulate ? out + sums.factor * sum : sums.factor * sum;
    }
  }
}

}  // namespace

KernelSet reference_kernels() {
  KernelSet set{.name = "reference",
                .spiking_step = spiking_step,
                .spiking_backward = spiking_backward,
                .lee_backward = lee_backward_reference,
                .norm_backward = norm_backward,
                .add_normalised = add_normalised,
                .gradient_sums = gradient_sums,
                .channel_moments = channel_moments,
                .add_spikes = add_spikes,
                .count_spikes = count_set_bits,
                .list_columns = list_columns,
                .spike_conv_row = spike_conv_row,
                .pattern_conv_row = pattern_conv_row,
                .spike_conv_weight_gradient = spike_conv_weight_gradient,
                .sum_rows = sum_rows,
                .vector_floats = 8};
  set_reference_winograd(set);
  set.bf16 = reference_bf16_kernels();
  set.integer = reference_integer_kernels();
  return set;
}

}  // namespace bntt::kernels
