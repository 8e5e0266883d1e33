#pragma once

#include <algorithm>
#include <cstdint>

#include "bntt/signal.h"
#include "kernels/gradient_view.h"
#include "kernels/unpack.h"

namespace bntt::kernels {

/// Convolution of spikes that walks the set bits and adds weight rows: the work is proportional to
/// the number of spikes. Output channels are processed in blocks whose sums stay in registers.
/// Weights and their gradient are therefore laid out as [block, tap row, in, tap column, channel of
/// the block], zero past the last channel, so that the taps of a row that a spike meets are
/// adjacent.
struct SpikeConvolution {
  PooledMap map;  // of the input; its pool is an average or a sum
  int64_t output_channels = 0;
  int64_t block_channels = 0;  // a whole number of vectors of the kernel set in use
  ConvGeometry geometry;

  MapShape output() const { return geometry.output(map.pooled(), output_channels); }
  int64_t blocks() const { return (output_channels + block_channels - 1) / block_channels; }
  int64_t block_weights() const { return geometry.taps() * map.source.channels * block_channels; }
  int64_t packed_size() const { return blocks() * block_weights(); }
};

// 4 vectors were as fast as 2 or faster at nearly every density.
inline constexpr int64_t kMaxBlockVectors = 4;

/// Frames of one bit plane, one after the other: [frame, y, x, word].
struct SpikePlane {
  const SpikeWord* words = nullptr;
  float weight = 1.0F;
  int64_t frames = 0;
};

/// The positions of a plane's spikes: entries [starts[i], starts[i + 1]) are list i.
struct SpikeLists {
  int32_t* starts = nullptr;
  int32_t* entries = nullptr;
};

/// Input row y meets tap row ky only if ky ≡ y + padding (mod stride). The remainder is the class
/// of the row. Only the first `tap_classes` classes have taps. No output sees the rows of the other
/// classes, which exist if the stride is larger than the kernel. The same holds for columns.
inline int64_t tap_classes(const ConvGeometry& geometry) {
  return std::min(geometry.stride, geometry.kernel);
}
inline bool is_seen(const ConvGeometry& geometry, int64_t position) {
  return (position + geometry.padding) % geometry.stride < geometry.kernel;
}

inline int64_t list_entries(const PooledMap& map, int64_t frames) {
  return map.source.size() * frames;
}
inline int64_t pixel_starts(const PooledMap& map) { return map.pooled().pixels() + 1; }

/// Lists, for every output row and every column of the pooled input, the spikes that this row of
/// outputs sees in this column, from top to bottom. An entry is tap row · channels + channel; the
/// spikes of one pixel are in the order of the window's pixels, then of channels. Lists of columns
/// that no output sees are empty. List y · width + x belongs to output row y and input column x.
///
/// A spike is listed once for each output row that sees it. In return an output has one list per
/// tap column instead of one per tap, so there are fewer short loops, whose ends processors
/// mispredict.
///
/// `by_pixel` is scratch: pixel_starts(map) and list_entries(map, 1) + kListSlack. Up to kListSlack
/// entries past the end of either list may be overwritten.
using ListColumns = void(const SpikeConvolution& convolution, const SpikeWord* frame,
                         const SpikeLists& by_pixel, const SpikeLists& columns);
inline constexpr int64_t kListSlack = 16;
inline int64_t column_starts(const SpikeConvolution& convolution) {
  return convolution.output().height * convolution.map.pooled().width + 1;
}
inline int64_t column_entries(const SpikeConvolution& convolution, int64_t spikes) {
  const ConvGeometry& geometry = convolution.geometry;
  return (geometry.kernel + geometry.stride - 1) / geometry.stride * spikes + kListSlack;
}

/// The weight gradient reads the output gradient of one block of channels with a zero border around
/// every frame, [frame, y, x, channel of the block], because inputs at the edge meet taps whose
/// outputs would lie outside the map.
struct GradientBorder {
  int64_t before = 0;  // rows above, columns to the left
  int64_t height = 0;  // including the border
  int64_t width = 0;

  int64_t pixels() const { return height * width; }
};
GradientBorder gradient_border(const SpikeConvolution& convolution);

/// Copies one block of channels of a gradient [frame, y, x, out] and writes the border around it.
void copy_bordered(const SpikeConvolution& convolution, int64_t frames, int64_t block,
                   GradientView gradient, float* bordered);

/// Lists the spikes of every channel by the classes of their row and column: [channel, class of y,
/// class of x], each list over all frames in order. An entry is the index, in bordered gradients,
/// of the output that the spike reaches through the first taps of its classes; tap row class + n ·
/// stride reaches the output n rows above it, and the same holds for columns.
void list_by_channel(const SpikeConvolution& convolution, const SpikePlane& plane,
                     const SpikeLists& lists);
inline int64_t channel_list_starts(const SpikeConvolution& convolution) {
  const int64_t classes = tap_classes(convolution.geometry);
  return convolution.map.source.channels * classes * classes + 1;
}

/// Where a kernel writes one row of a block's outputs: [x, channel], pixels `stride` floats apart.
struct RowOutput {
  float* data = nullptr;
  int64_t stride = 0;
  int64_t channels = 0;  // in this block: the last block may be narrower
};

/// One row of outputs = factor · Σ of the weight rows of its columns' spikes, or += with
/// `accumulate`. Each output adds the tap columns in order, the spikes of a column in the listed
/// order, and is multiplied by the factor once at the end.
struct ColumnSums {
  const int32_t* starts = nullptr;  // of the first input column's list of this output row
  const int32_t* entries = nullptr;
  const float* block_weights = nullptr;
  float factor = 1.0F;
  bool accumulate = false;
};
using SpikeConvRow = void(const SpikeConvolution& convolution, const ColumnSums& sums,
                          const RowOutput& output);

/// Adds the contribution of one plane to one block of the packed weight gradient: += weight · scale
/// · Σ of the gradients that its spikes meet, in the listed order. `bordered` holds the block's
/// channels in the layout of copy_bordered.
using SpikeConvWeightGradient = void(const SpikeConvolution& convolution, const SpikePlane& plane,
                                     const SpikeLists& by_channel, const float* bordered,
                                     float* block_gradient);

/// Converts [tap, in, out] to the layout above, and a summed packed gradient back.
void pack_spike_weights(const SpikeConvolution& convolution, const float* weights, float* packed);
void unpack_spike_gradient(const SpikeConvolution& convolution, const float* packed,
                           float* weights);

}  // namespace bntt::kernels
