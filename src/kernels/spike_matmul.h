#pragma once

#include <cstdint>

#include "kernels/spike_convolution.h"

namespace bntt::kernels {

/// Products with a matrix of spikes are sums of rows. In the forward pass these are the weight rows
/// that a frame's spikes select; in the weight gradient, the gradient rows of the frames in which
/// an input spikes. A table holds one block of columns: [row, width], zero past the last column.
struct RowSums {
  const float* table = nullptr;
  int64_t width = 0;    // whole vectors of the kernel set in use, at most kMaxSumVectors of them
  int64_t columns = 0;  // columns that are written, at most width
  float factor = 1.0F;
  bool accumulate = false;
  float* out = nullptr;  // [list, stride]
  int64_t out_stride = 0;
};

inline constexpr int64_t kMaxSumVectors = 8;

/// out[i] (+)= factor · Σ of the table's rows in list i, in the listed order.
using SumRows = void(const SpikeLists& lists, int64_t count, const RowSums& sums);

/// Spikes of one frame that remain after pooling.
int64_t count_pooled_spikes(const PooledMap& map, const SpikeWord* frame);

/// The inputs (pooled pixel · channels + channel) that spike in one frame; returns their number.
int64_t list_inputs(const PooledMap& map, const SpikeWord* frame, int32_t* entries);

/// For each of the up to 64 channels of one word at one pooled pixel, the frames in which it
/// spikes, once per spike of its window.
void list_frames(const PooledMap& map, const SpikePlane& plane, int64_t pooled_pixel, int64_t word,
                 const SpikeLists& lists);
inline int64_t frame_list_entries(const PooledMap& map, int64_t frames) {
  return frames * map.pool_height * map.pool_width * kSpikesPerWord;
}

}  // namespace bntt::kernels
