#include "kernels/max_pool.h"

#include <algorithm>
#include <bit>

namespace bntt::kernels {
namespace {

/// Calls visit(pooled pixel, first source pixel of its window).
template <typename Visit>
void for_each_window(const PooledMap& map, const Visit& visit) {
  const MapShape pooled = map.pooled();
  for (int64_t y = 0; y < pooled.height; ++y) {
    for (int64_t x = 0; x < pooled.width; ++x) {
      visit(y * pooled.width + x, y * map.pool_height * map.source.width + x * map.pool_width);
    }
  }
}

/// Calls visit(source pixel) for a window that starts at `first`, row by row.
template <typename Visit>
void for_each_in_window(const PooledMap& map, int64_t first, const Visit& visit) {
  for (int64_t dy = 0; dy < map.pool_height; ++dy) {
    for (int64_t dx = 0; dx < map.pool_width; ++dx) visit(first + dy * map.source.width + dx);
  }
}

int64_t words_per_pixel(const PooledMap& map) {
  return (map.source.channels + kSpikesPerWord - 1) / kSpikesPerWord;
}

}  // namespace

void max_pool_spikes(const PooledMap& map, const SpikeWord* source, SpikeWord* pooled) {
  const int64_t words = words_per_pixel(map);
  for_each_window(map, [&](int64_t to, int64_t first) {
    SpikeWord* out = pooled + to * words;
    std::fill_n(out, words, 0);
    for_each_in_window(map, first, [&](int64_t pixel) {
      for (int64_t w = 0; w < words; ++w) out[w] |= source[pixel * words + w];
    });
  });
}

void max_pool_frame(const PooledMap& map, const float* source, float* pooled) {
  const int64_t channels = map.source.channels;
  for_each_window(map, [&](int64_t to, int64_t first) {
    float* out = pooled + to * channels;
    std::copy_n(source + first * channels, channels, out);
    for_each_in_window(map, first, [&](int64_t pixel) {
      const float* in = source + pixel * channels;
      for (int64_t c = 0; c < channels; ++c) out[c] = in[c] > out[c] ? in[c] : out[c];
    });
  });
}

void max_unpool_spikes(const PooledMap& map, const SpikeWord* source, const float* pooled_gradient,
                       float* source_gradient) {
  const int64_t channels = map.source.channels;
  const int64_t words = words_per_pixel(map);
  std::fill_n(source_gradient, map.source.size(), 0.0F);
  for_each_window(map, [&](int64_t from, int64_t first) {
    for (int64_t w = 0; w < words; ++w) {
      const int64_t first_channel = w * kSpikesPerWord;
      const float* gradient = pooled_gradient + from * channels + first_channel;
      const auto give = [&](int64_t pixel, SpikeWord bits) {
        float* to = source_gradient + pixel * channels + first_channel;
        for (; bits != 0; bits &= bits - 1) {
          const int channel = std::countr_zero(bits);
          to[channel] = gradient[channel];
        }
      };
      // Channels whose gradient has not been assigned to a pixel yet.
      const int64_t count = std::min(kSpikesPerWord, channels - first_channel);
      SpikeWord left = ~SpikeWord{0} >> (kSpikesPerWord - count);
      for_each_in_window(map, first, [&](int64_t pixel) {
        give(pixel, source[pixel * words + w] & left);
        left &= ~source[pixel * words + w];
      });
      give(first, left);
    }
  });
}

void max_unpool_frame(const PooledMap& map, const float* source, const float* pooled_gradient,
                      float* source_gradient) {
  const int64_t channels = map.source.channels;
  std::fill_n(source_gradient, map.source.size(), 0.0F);
  for_each_window(map, [&](int64_t from, int64_t first) {
    for (int64_t c = 0; c < channels; ++c) {
      int64_t largest = first;
      for_each_in_window(map, first, [&](int64_t pixel) {
        if (source[pixel * channels + c] > source[largest * channels + c]) largest = pixel;
      });
      source_gradient[largest * channels + c] = pooled_gradient[from * channels + c];
    }
  });
}

}  // namespace bntt::kernels
