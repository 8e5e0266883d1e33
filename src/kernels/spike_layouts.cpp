#include <algorithm>

#include "kernels/integer_kernels.h"
#include "kernels/spike_convolution.h"

namespace bntt::kernels {
namespace {

/// Calls visit(row of [tap, in], row of a block's layout) for every row.
template <typename Visit>
void for_each_weight_row(const SpikeConvolution& convolution, const Visit& visit) {
  const int64_t channels = convolution.map.source.channels;
  const int64_t kernel = convolution.geometry.kernel;
  for (int64_t tap = 0; tap < convolution.geometry.taps(); ++tap) {
    for (int64_t in = 0; in < channels; ++in) {
      visit(tap * channels + in, (tap / kernel * channels + in) * kernel + tap % kernel);
    }
  }
}

/// `count` neighbouring weights as one row of pairs.
void pack_pairs(const int8_t* weights, int64_t count, int64_t words, int16_t* row) {
  const auto weight = [&](int64_t channel) { return channel < count ? weights[channel] : 0; };
  for (int64_t i = 0; i < words; ++i) {
    row[i] = static_cast<int16_t>(weight(i) + 256 * weight(words + i));
  }
}

}  // namespace

void pack_integer_weights(const SpikeConvolution& convolution, const int8_t* weights,
                          int16_t* words) {
  const int64_t width = convolution.block_channels;
  const int64_t row_words = integer_row_words(width);
  for (int64_t block = 0; block < convolution.blocks(); ++block) {
    const int64_t first = block * width;
    const int64_t count = std::min(width, convolution.output_channels - first);
    int16_t* of_block = words + block * integer_block_words(convolution);
    for_each_weight_row(convolution, [&](int64_t plain, int64_t row) {
      pack_pairs(weights + plain * convolution.output_channels + first, count, row_words,
                 of_block + row * row_words);
    });
  }
}

void pack_integer_rows(const int8_t* weights, int64_t rows, int64_t columns, int64_t width,
                       int16_t* words) {
  for (int64_t first = 0; first < columns; first += width) {
    for (int64_t row = 0; row < rows; ++row, words += width / 2) {
      pack_pairs(weights + row * columns + first, std::min(width, columns - first), width / 2,
                 words);
    }
  }
}

void pack_spike_weights(const SpikeConvolution& convolution, const float* weights, float* packed) {
  const int64_t width = convolution.block_channels;
  for (int64_t block = 0; block < convolution.blocks(); ++block) {
    const int64_t first = block * width;
    const int64_t count = std::min(width, convolution.output_channels - first);
    float* of_block = packed + block * convolution.block_weights();
    for_each_weight_row(convolution, [&](int64_t plain, int64_t row) {
      float* to = of_block + row * width;
      std::copy_n(weights + plain * convolution.output_channels + first, count, to);
      std::fill(to + count, to + width, 0.0F);
    });
  }
}

void unpack_spike_gradient(const SpikeConvolution& convolution, const float* packed,
                           float* weights) {
  const int64_t width = convolution.block_channels;
  for (int64_t block = 0; block < convolution.blocks(); ++block) {
    const int64_t first = block * width;
    const int64_t count = std::min(width, convolution.output_channels - first);
    const float* of_block = packed + block * convolution.block_weights();
    for_each_weight_row(convolution, [&](int64_t plain, int64_t row) {
      std::copy_n(of_block + row * width, count,
                  weights + plain * convolution.output_channels + first);
    });
  }
}

GradientBorder gradient_border(const SpikeConvolution& convolution) {
  const ConvGeometry& geometry = convolution.geometry;
  const MapShape input = convolution.map.pooled();
  const MapShape output = convolution.output();
  // Input row y reaches the output rows from ⌈(y + padding − kernel + 1) / stride⌉ to
  // ⌊(y + padding) / stride⌋.
  const int64_t before =
      std::max<int64_t>(0, geometry.kernel - 1 - geometry.padding) / geometry.stride;
  const auto extent = [&](int64_t of_input, int64_t of_output) {
    const int64_t last = (of_input - 1 + geometry.padding) / geometry.stride;
    return before + std::max(of_output, last + 1);
  };
  return {before, extent(input.height, output.height), extent(input.width, output.width)};
}

void copy_bordered(const SpikeConvolution& convolution, int64_t frames, int64_t block,
                   GradientView gradient, float* bordered) {
  const MapShape map = convolution.output();
  const GradientBorder border = gradient_border(convolution);
  const int64_t width = convolution.block_channels;
  const int64_t first = block * width;
  const int64_t count = std::min(width, map.channels - first);
  const int64_t row = border.width * width;
  const int64_t left = border.before * width;
  const int64_t right = row - left - map.width * width;
  const int64_t rows_below = border.height - border.before - map.height;
  for (int64_t frame = 0; frame < frames; ++frame) {
    bordered = std::fill_n(bordered, border.before * row, 0.0F);
    for (int64_t y = 0; y < map.height; ++y) {
      bordered = std::fill_n(bordered, left, 0.0F);
      for (int64_t x = 0; x < map.width; ++x) {
        const int64_t pixel = (frame * map.height + y) * map.width + x;
        gradient.from(pixel * map.channels + first).read(count, bordered);
        bordered = std::fill_n(bordered + count, width - count, 0.0F);
      }
      bordered = std::fill_n(bordered, right, 0.0F);
    }
    bordered = std::fill_n(bordered, rows_below * row, 0.0F);
  }
}

}  // namespace bntt::kernels
