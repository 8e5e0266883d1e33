#pragma once

#include <cstdint>

#include "bntt/signal.h"

namespace bntt::kernels {

/// A map read through an average pool: pooled pixel (y, x) is the mean of a pool_height x
/// pool_width window. Pixels right of and below the last whole window are dropped.
struct PooledMap {
  MapShape source;
  int64_t pool_height = 1;
  int64_t pool_width = 1;

  MapShape pooled() const {
    return {source.channels, source.height / pool_height, source.width / pool_width};
  }
  float scale() const { return 1.0F / static_cast<float>(pool_height * pool_width); }
  bool is_identity() const { return pool_height == 1 && pool_width == 1; }
};

/// Averages one dense frame: source[y, x, channel] to pooled[y, x, channel].
void pool_frame(const PooledMap& map, const float* source, float* pooled);

/// The transpose of pool_frame: spreads each pooled gradient over its window; dropped pixels get
/// zero.
void unpool_frame(const PooledMap& map, const float* pooled, float* source);

int64_t count_spikes(const SpikeWord* words, int64_t count);

}  // namespace bntt::kernels
