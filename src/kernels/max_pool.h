#pragma once

#include "kernels/unpack.h"

namespace bntt::kernels {

/// The maximum of every window of one plane of spikes: [y, x, word] to pooled [y, x, word]. A
/// pooled pixel spikes if any pixel of its window does.
void max_pool_spikes(const PooledMap& map, const SpikeWord* source, SpikeWord* pooled);

/// The maximum of every window of one dense frame: source[y, x, channel] to pooled[y, x, channel].
void max_pool_frame(const PooledMap& map, const float* source, float* pooled);

/// Their gradients: each pooled gradient goes to the first pixel of its window, in row order, that
/// has the maximum; if no pixel spikes, that is the first pixel of the window. All other pixels,
/// including dropped ones, get zero.
void max_unpool_spikes(const PooledMap& map, const SpikeWord* source, const float* pooled_gradient,
                       float* source_gradient);
void max_unpool_frame(const PooledMap& map, const float* source, const float* pooled_gradient,
                      float* source_gradient);

}  // namespace bntt::kernels
