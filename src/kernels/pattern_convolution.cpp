#include "kernels/pattern_convolution.h"

#include <algorithm>
#include <bit>

#include "kernels/integer_kernels.h"

namespace bntt::kernels {

namespace {

/// Sums of weights, of one kind of numbers.
template <typename Weight, typename Sum>
void fill_table(const PatternConvolution& convolution, const Weight* weights,
                const std::vector<float>& plane_weights, Sum* table) {
  const int64_t width = convolution.block_channels;
  const int64_t channels = convolution.map.channels;
  const int64_t outputs = convolution.output_channels;
  for (int64_t row = 0; row < convolution.table_size() / width; ++row) {
    const int64_t pattern = row % convolution.patterns();
    const int64_t group = row / convolution.patterns() % convolution.groups();
    const int64_t first = row / convolution.patterns() / convolution.groups() * width;
    Sum* to = table + row * width;
    if (pattern == 0) {
      std::fill_n(to, width, Sum{});
      continue;
    }
    // This pattern has one bit more than one that has already been computed.
    const Sum* without = to - (pattern - (pattern & (pattern - 1))) * width;
    const int64_t bit = std::countr_zero(static_cast<uint64_t>(pattern));
    const int64_t pixel = bit / convolution.bits_per_pixel();
    const auto plane_weight = static_cast<Sum>(plane_weights[bit / channels % convolution.planes]);
    const int64_t tap = group * convolution.pixels_together() + pixel;
    const Weight* from = weights + (tap * channels + bit % channels) * outputs + first;
    const int64_t count = std::min(width, outputs - first);
    for (int64_t k = 0; k < count; ++k) {
      to[k] = static_cast<Sum>(without[k] + plane_weight * from[k]);
    }
    std::fill(to + count, to + width, Sum{});
  }
}

}  // namespace

void fill_pattern_table(const PatternConvolution& convolution, const float* weights,
                        const std::vector<float>& plane_weights, float* table) {
  fill_table(convolution, weights, plane_weights, table);
}

void fill_integer_table(const PatternConvolution& convolution, const int8_t* weights,
                        const std::vector<float>& plane_weights, int16_t* table) {
  fill_table(convolution, weights, plane_weights, table);
}

bool suits_integer_table(int64_t channels, double largest_value) {
  constexpr double kLargestSum = 32767.0;
  return 9.0 * static_cast<double>(channels) * largest_value * kLargestInteger <= kLargestSum;
}

void read_patterns(const PatternConvolution& convolution,
                   const std::vector<const SpikeWord*>& planes, uint8_t* patterns) {
  const MapShape& map = convolution.map;
  const int64_t row = convolution.pattern_row();
  const auto bits = static_cast<int>(convolution.bits_per_pixel());
  const auto channels = static_cast<int>(map.channels);
  const auto of_pixel = [&](int64_t pixel) {
    unsigned pattern = 0;
    for (std::size_t p = planes.size(); p-- > 0;) {
      pattern = pattern << channels | static_cast<unsigned>(planes[p][pixel]);
    }
    return pattern;
  };
  std::fill_n(patterns, row, 0);
  for (int64_t y = 0; y < map.height; ++y) {
    uint8_t* to = patterns + (y + 1) * row;
    if (convolution.pixels_together() == 1) {
      to[0] = to[map.width + 1] = 0;
      for (int64_t x = 0; x < map.width; ++x) {
        to[x + 1] = static_cast<uint8_t>(of_pixel(y * map.width + x));
      }
    } else {
      // The pattern of (x - 1, x, x + 1): each step drops the left pixel and appends a new one.
      unsigned three = of_pixel(y * map.width) << bits;
      for (int64_t x = 0; x < map.width; ++x) {
        three >>= x == 0 ? 0 : bits;
        if (x + 1 < map.width) three |= of_pixel(y * map.width + x + 1) << (2 * bits);
        to[x] = static_cast<uint8_t>(three);
      }
    }
  }
  std::fill_n(patterns + (map.height + 1) * row, row, 0);
}

}  // namespace bntt::kernels
