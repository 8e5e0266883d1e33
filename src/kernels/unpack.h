#pragma once

#include <cstdint>

#include "bntt/signal.h"

namespace bntt::kernels {

/// A map read through a pool: pooled pixel (y, x) is the mean, the sum or the maximum of a
/// pool_height x pool_width window. Pixels right of and below the last whole window are dropped.
/// Averages and sums are linear and are applied whenever a map is read. A maximum is not:
/// max_pool.h stores the pooled map, which is then read without a pool.
struct PooledMap {
  MapShape source;
  int64_t pool_height = 1;
  int64_t pool_width = 1;
  PoolKind kind = PoolKind::average;

  MapShape pooled() const {
    return {source.channels, source.height / pool_height, source.width / pool_width};
  }
  /// The weight of a pixel of the window in the pooled pixel.
  float scale() const {
    return kind == PoolKind::average ? 1.0F / static_cast<float>(pool_height * pool_width) : 1.0F;
  }
  bool is_identity() const { return pool_height == 1 && pool_width == 1; }
};

/// Averages or sums one dense frame: source[y, x, channel] to pooled[y, x, channel].
void pool_frame(const PooledMap& map, const float* source, float* pooled);

/// The transpose of pool_frame: spreads each pooled gradient over its window; dropped pixels get
/// zero.
void unpool_frame(const PooledMap& map, const float* pooled, float* source);

int64_t count_spikes(const SpikeWord* words, int64_t count);

}  // namespace bntt::kernels
