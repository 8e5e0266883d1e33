#include "kernels/unpack.h"

#include <algorithm>

#include "kernels/kernel_set.h"

namespace bntt::kernels {

void pool_frame(const PooledMap& map, const float* source, float* pooled) {
  const MapShape shape = map.pooled();
  if (map.is_identity()) {
    std::copy_n(source, shape.size(), pooled);
    return;
  }
  const float scale = map.scale();
  for (int64_t y = 0; y < shape.height; ++y) {
    for (int64_t x = 0; x < shape.width; ++x) {
      float* out = pooled + (y * shape.width + x) * shape.channels;
      std::fill_n(out, shape.channels, 0.0F);
      for (int64_t dy = 0; dy < map.pool_height; ++dy) {
        for (int64_t dx = 0; dx < map.pool_width; ++dx) {
          const float* in =
              source + ((y * map.pool_height + dy) * map.source.width + x * map.pool_width + dx) *
                           shape.channels;
          for (int64_t c = 0; c < shape.channels; ++c) out[c] += in[c];
        }
      }
      for (int64_t c = 0; c < shape.channels; ++c) out[c] *= scale;
    }
  }
}

void unpool_frame(const PooledMap& map, const float* pooled, float* source) {
  const MapShape shape = map.pooled();
  const float scale = map.scale();
  std::fill_n(source, map.source.size(), 0.0F);
  for (int64_t y = 0; y < shape.height * map.pool_height; ++y) {
    for (int64_t x = 0; x < shape.width * map.pool_width; ++x) {
      const float* in =
          pooled + (y / map.pool_height * shape.width + x / map.pool_width) * shape.channels;
      float* out = source + (y * map.source.width + x) * shape.channels;
      for (int64_t c = 0; c < shape.channels; ++c) out[c] = in[c] * scale;
    }
  }
}

int64_t count_spikes(const SpikeWord* words, int64_t count) {
  return kernels().count_spikes(words, count);
}

}  // namespace bntt::kernels
