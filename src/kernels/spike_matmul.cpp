#include "kernels/spike_matmul.h"

#include <algorithm>
#include <bit>

namespace bntt::kernels {
namespace {

/// Calls visit(words of a source pixel) for the window of a pooled pixel.
template <typename Visit>
inline void for_each_in_window(const PooledMap& map, const SpikeWord* frame, int64_t pooled_pixel,
                               const Visit& visit) {
  const int64_t words = (map.source.channels + kSpikesPerWord - 1) / kSpikesPerWord;
  const int64_t top = pooled_pixel / map.pooled().width * map.pool_height;
  const int64_t left = pooled_pixel % map.pooled().width * map.pool_width;
  for (int64_t y = top; y < top + map.pool_height; ++y) {
    for (int64_t x = left; x < left + map.pool_width; ++x) {
      visit(frame + (y * map.source.width + x) * words);
    }
  }
}

}  // namespace

int64_t count_pooled_spikes(const PooledMap& map, const SpikeWord* frame) {
  const int64_t words = (map.source.channels + kSpikesPerWord - 1) / kSpikesPerWord;
  int64_t count = 0;
  for (int64_t p = 0; p < map.pooled().pixels(); ++p) {
    for_each_in_window(map, frame, p,
                       [&](const SpikeWord* pixel) { count += count_spikes(pixel, words); });
  }
  return count;
}

int64_t list_inputs(const PooledMap& map, const SpikeWord* frame, int32_t* entries) {
  const int64_t channels = map.source.channels;
  const int64_t words = (channels + kSpikesPerWord - 1) / kSpikesPerWord;
  int32_t* next = entries;
  for (int64_t p = 0; p < map.pooled().pixels(); ++p) {
    for_each_in_window(map, frame, p, [&](const SpikeWord* pixel) {
      for (int64_t w = 0; w < words; ++w) {
        const int64_t first = p * channels + w * kSpikesPerWord;
        for (SpikeWord bits = pixel[w]; bits != 0; bits &= bits - 1) {
          *next++ = static_cast<int32_t>(first + std::countr_zero(bits));
        }
      }
    });
  }
  return next - entries;
}

void list_frames(const PooledMap& map, const SpikePlane& plane, int64_t pooled_pixel, int64_t word,
                 const SpikeLists& lists) {
  const int64_t words = (map.source.channels + kSpikesPerWord - 1) / kSpikesPerWord;
  const auto for_each_spike = [&](const auto& visit) {
    for (int64_t f = 0; f < plane.frames; ++f) {
      for_each_in_window(map, plane.words + f * map.source.pixels() * words, pooled_pixel,
                         [&](const SpikeWord* pixel) {
                           for (SpikeWord bits = pixel[word]; bits != 0; bits &= bits - 1) {
                             visit(std::countr_zero(bits), static_cast<int32_t>(f));
                           }
                         });
    }
  };
  // Count, turn counts into starts, fill; while filling, starts are kept one position ahead.
  std::fill_n(lists.starts, kSpikesPerWord + 1, 0);
  for_each_spike([&](int channel, int32_t) { ++lists.starts[channel + 1]; });
  for (int64_t c = 0; c < kSpikesPerWord; ++c) lists.starts[c + 1] += lists.starts[c];
  for_each_spike(
      [&](int channel, int32_t frame) { lists.entries[lists.starts[channel]++] = frame; });
  for (int64_t c = kSpikesPerWord; c > 0; --c) lists.starts[c] = lists.starts[c - 1];
  lists.starts[0] = 0;
}

}  // namespace bntt::kernels
