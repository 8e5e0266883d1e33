#include <algorithm>

#include "kernels/integer_kernels.h"

// Plain integer loops that define what the faster variants compute.
namespace bntt::kernels {
namespace {

/// The weight of a channel in a row of `words` words.
int32_t weight_at(const int16_t* row, int64_t words, int64_t channel) {
  const int32_t word = row[channel % words];
  const int32_t second = (word + 128) >> 8;
  return channel < words ? word - 256 * second : second;
}

void write_sum(int32_t sum, float factor, bool accumulate, float& out) {
  const float value = factor * static_cast<float>(sum);
  out = accumulate ? out + value : value;
}

void conv_row(const SpikeConvolution& convolution, const IntegerColumnSums& sums,
              const RowOutput& output) {
  const ConvGeometry& geometry = convolution.geometry;
  const int64_t columns = convolution.map.pooled().width;
  const int64_t words = integer_row_words(convolution.block_channels);
  for (int64_t x = 0; x < convolution.output().width; ++x) {
    for (int64_t k = 0; k < output.channels; ++k) {
      int32_t sum = 0;
      for (int64_t kx = 0; kx < geometry.kernel; ++kx) {
        const int64_t column = x * geometry.stride - geometry.padding + kx;
        if (column < 0 || column >= columns) continue;
        for (int32_t e = sums.starts[column]; e < sums.starts[column + 1]; ++e) {
          const int64_t row = geometry.kernel * sums.entries[e] + kx;
          sum += weight_at(sums.block_words + row * words, words, k);
        }
      }
      write_sum(sum, sums.factor, sums.accumulate, output.data[x * output.stride + k]);
    }
  }
}

void pattern_row(const PatternConvolution& convolution, const uint8_t* patterns,
                 const int16_t* block_table, const RowOutput& output) {
  const int64_t columns = 3 / convolution.pixels_together();
  const int64_t width = convolution.block_channels;
  for (int64_t x = 0; x < convolution.map.width; ++x) {
    for (int64_t k = 0; k < output.channels; ++k) {
      int32_t sum = 0;
      for (int64_t group = 0; group < convolution.groups(); ++group) {
        const int64_t pattern =
            patterns[group / columns * convolution.pattern_row() + x + group % columns];
        sum += block_table[(group * convolution.patterns() + pattern) * width + k];
      }
      output.data[x * output.stride + k] = static_cast<float>(sum);
    }
  }
}

void sum_rows(const SpikeLists& lists, int64_t count, const IntegerRowSums& sums) {
  const int64_t words = sums.width / 2;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t c = 0; c < sums.columns; ++c) {
      int32_t sum = 0;
      for (int32_t e = lists.starts[i]; e < lists.starts[i + 1]; ++e) {
        sum += weight_at(sums.table + lists.entries[e] * words, words, c);
      }
      write_sum(sum, sums.factor, sums.accumulate, sums.out[i * sums.out_stride + c]);
    }
  }
}

}  // namespace

IntegerKernels reference_integer_kernels() {
  return {.conv_row = conv_row, .pattern_row = pattern_row, .sum_rows = sum_rows};
}

}  // namespace bntt::kernels
