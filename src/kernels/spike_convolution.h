#pragma once

#include <cstdint>

#include "bntt/signal.h"
#include "kernels/unpack.h"

namespace bntt::kernels {

/// 3x3 convolution of spikes, padding 1, that walks the set bits and adds rows: work in proportion
/// to the spikes. Output channels are taken in blocks whose sums stay in registers; weights and
/// their gradient are laid out for that as [block, tap row, in, tap column, channel of the block],
/// zero past the last channel: a spike meets the three taps of a row as neighbours.
struct SpikeConvolution {
  PooledMap map;  // of the input
  int64_t output_channels = 0;
  int64_t block_channels = 0;  // a whole number of vectors of the kernel set in use

  int64_t blocks() const { return (output_channels + block_channels - 1) / block_channels; }
  int64_t block_weights() const { return 9 * map.source.channels * block_channels; }
  int64_t packed_size() const { return blocks() * block_weights(); }
};

// Of 2 and 4 vectors 4 was as fast or faster at nearly every density.
inline constexpr int64_t kMaxBlockVectors = 4;

/// Frames of one bit plane, one after the other: [frame, y, x, word].
struct SpikePlane {
  const SpikeWord* words = nullptr;
  float weight = 1.0F;
  int64_t frames = 0;
};

/// Where the spikes of a plane are: entries [starts[i], starts[i + 1]) belong to pixel or channel
/// i.
struct SpikeLists {
  int32_t* starts = nullptr;
  int32_t* entries = nullptr;
};

inline int64_t list_entries(const PooledMap& map, int64_t frames) {
  return map.source.size() * frames;
}
inline int64_t channel_list_starts(const PooledMap& map) { return map.source.channels + 1; }

/// For every pooled pixel of a frame what the output at that place sees in the pixel's column: the
/// spikes of the pixel above it, of its own and of the one below, each as tap row · channels +
/// channel, in that order, within a pixel in the order of the window's pixels, then of channels.
/// Each spike is listed three times; in exchange a row of outputs meets one list per column, and
/// loops that end after a few turns, which processors mispredict, are a third as many.
/// `by_pixel` is scratch of the same size. Up to kListSlack entries past the end may be touched.
using ListColumns = void(const PooledMap& map, const SpikeWord* frame, const SpikeLists& by_pixel,
                         const SpikeLists& columns);
inline constexpr int64_t kListSlack = 16;
inline int64_t column_starts(const PooledMap& map) { return map.pooled().pixels() + 1; }
inline int64_t column_entries(int64_t spikes) { return 3 * spikes + kListSlack; }

/// For each channel the pixels where it spikes, over all frames in order, as offsets into maps that
/// carry a border of one pixel all round: frame · (height + 2)(width + 2) + (y + 1)(width + 2) + x
/// + 1 of the pooled map.
void list_by_channel(const PooledMap& map, const SpikePlane& plane, const SpikeLists& lists);

/// Where a kernel puts one row of a block's outputs: [x, channel], pixels `stride` floats apart.
struct RowOutput {
  float* data = nullptr;
  int64_t stride = 0;
  int64_t channels = 0;  // of the block that are there: the last block may be narrower
};

/// One row of outputs = factor · Σ of the weight rows of its columns' spikes, or += with
/// `accumulate`. Per output: tap columns in order, within one the listed order; then the factor
/// once.
struct ColumnSums {
  const int32_t* starts = nullptr;  // of the row's columns
  const int32_t* entries = nullptr;
  const float* block_weights = nullptr;
  float factor = 1.0F;
  bool accumulate = false;
};
using SpikeConvRow = void(const SpikeConvolution& convolution, const ColumnSums& sums,
                          const RowOutput& output);

/// Adds one plane's part to one block of the packed weight gradient: += weight · scale · Σ of the
/// gradients at its spikes, in the listed order. `bordered` holds the block's channels with a zero
/// border: [frame, y + 2, x + 2, channel].
using SpikeConvWeightGradient = void(const SpikeConvolution& convolution, const SpikePlane& plane,
                                     const SpikeLists& by_channel, const float* bordered,
                                     float* block_gradient);

/// [tap, in, out] to the layout above, and the sum of a packed gradient back.
void pack_spike_weights(const SpikeConvolution& convolution, const float* weights, float* packed);
void unpack_spike_gradient(const SpikeConvolution& convolution, const float* packed,
                           float* weights);

}  // namespace bntt::kernels
