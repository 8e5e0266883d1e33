#include <algorithm>
#include <bit>

#include "kernels/spike_convolution.h"

namespace bntt::kernels {
namespace {

int64_t words_per_pixel(const PooledMap& map) {
  return (map.source.channels + kSpikesPerWord - 1) / kSpikesPerWord;
}

/// Calls visit(channel) for every set bit of a pixel, in order.
template <typename Visit>
inline void for_each_spike(const SpikeWord* pixel, int64_t words, const Visit& visit) {
  for (int64_t w = 0; w < words; ++w) {
    for (SpikeWord bits = pixel[w]; bits != 0; bits &= bits - 1) {
      visit(static_cast<int32_t>(w * kSpikesPerWord + std::countr_zero(bits)));
    }
  }
}

/// Calls visit(pooled pixel with its frame, words of a source pixel), frame by frame, pooled pixel
/// by pooled pixel.
template <typename Visit>
inline void for_each_pixel(const PooledMap& map, const SpikePlane& plane, const Visit& visit) {
  const MapShape pooled = map.pooled();
  const int64_t words = words_per_pixel(map);
  for (int64_t frame = 0; frame < plane.frames; ++frame) {
    const SpikeWord* frame_words = plane.words + frame * map.source.pixels() * words;
    for (int64_t y = 0; y < pooled.height; ++y) {
      for (int64_t x = 0; x < pooled.width; ++x) {
        for (int64_t dy = 0; dy < map.pool_height; ++dy) {
          for (int64_t dx = 0; dx < map.pool_width; ++dx) {
            const int64_t source =
                (y * map.pool_height + dy) * map.source.width + x * map.pool_width + dx;
            visit(frame, y, x, frame_words + source * words);
          }
        }
      }
    }
  }
}

}  // namespace

void list_by_channel(const PooledMap& map, const SpikePlane& plane, const SpikeLists& lists) {
  const MapShape pooled = map.pooled();
  const int64_t words = words_per_pixel(map);
  const int64_t channels = map.source.channels;
  // Count, turn counts into starts, fill; starts are kept one place ahead while filling.
  std::fill_n(lists.starts, channels + 1, 0);
  for_each_pixel(map, plane, [&](int64_t, int64_t, int64_t, const SpikeWord* pixel) {
    for_each_spike(pixel, words, [&](int32_t channel) { ++lists.starts[channel + 1]; });
  });
  for (int64_t c = 0; c < channels; ++c) lists.starts[c + 1] += lists.starts[c];
  const int64_t row = pooled.width + 2;
  const int64_t bordered = (pooled.height + 2) * row;
  for_each_pixel(map, plane, [&](int64_t frame, int64_t y, int64_t x, const SpikeWord* pixel) {
    const auto place = static_cast<int32_t>(frame * bordered + (y + 1) * row + x + 1);
    for_each_spike(pixel, words,
                   [&](int32_t channel) { lists.entries[lists.starts[channel]++] = place; });
  });
  for (int64_t c = channels; c > 0; --c) lists.starts[c] = lists.starts[c - 1];
  lists.starts[0] = 0;
}

namespace {

/// Calls visit(row of [tap, in], row of a block's layout) for all of them.
template <typename Visit>
void for_each_weight_row(int64_t channels, const Visit& visit) {
  for (int64_t tap = 0; tap < 9; ++tap) {
    for (int64_t in = 0; in < channels; ++in) {
      visit(tap * channels + in, (tap / 3 * channels + in) * 3 + tap % 3);
    }
  }
}

}  // namespace

void pack_spike_weights(const SpikeConvolution& convolution, const float* weights, float* packed) {
  const int64_t width = convolution.block_channels;
  for (int64_t block = 0; block < convolution.blocks(); ++block) {
    const int64_t first = block * width;
    const int64_t count = std::min(width, convolution.output_channels - first);
    float* of_block = packed + block * convolution.block_weights();
    for_each_weight_row(convolution.map.source.channels, [&](int64_t plain, int64_t row) {
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
    for_each_weight_row(convolution.map.source.channels, [&](int64_t plain, int64_t row) {
      std::copy_n(of_block + row * width, count,
                  weights + plain * convolution.output_channels + first);
    });
  }
}

}  // namespace bntt::kernels
