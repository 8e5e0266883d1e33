#pragma once

#include <algorithm>
#include <cstdint>

#include "bntt/signal.h"
#include "kernels/unpack.h"

namespace bntt::kernels {

/// Convolution of spikes that walks the set bits and adds rows: work in proportion to the spikes.
/// Output channels are taken in blocks whose sums stay in registers; weights and their gradient are
/// laid out for that as [block, tap row, in, tap column, channel of the block], zero past the last
/// channel: a spike meets the taps of a row as neighbours.
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

/// With a stride, the input row y meets only the tap rows ky with ky ≡ y + padding (mod stride):
/// its class. There are as many classes as strides, but those from `kernel` on meet no tap: no
/// output sees such a row. The same holds for columns.
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

/// For every output row and every column of the pooled input what that row of outputs sees in that
/// column: the spikes of its pixels from top to bottom, each as tap row · channels + channel,
/// within a pixel in the order of the window's pixels, then of channels. Columns that no output
/// sees, which strides beyond the kernel leave, have empty lists. A spike is listed for each of the
/// output rows that see it; in exchange an output meets one list per tap column, and loops that end
/// after a few turns, which processors mispredict, are fewer. `by_pixel` is scratch:
/// pixel_starts(map) and list_entries(map, 1) + kListSlack. Of the entries of either, up to
/// kListSlack past the end may be touched.
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

/// Where the output gradient of a block of channels lies for the weight gradient: every frame has a
/// zero border as wide as inputs at the edge look past the outputs, [frame, y, x, channel of the
/// block].
struct GradientBorder {
  int64_t before = 0;  // rows above, columns to the left
  int64_t height = 0;  // with the border
  int64_t width = 0;

  int64_t pixels() const { return height * width; }
};
GradientBorder gradient_border(const SpikeConvolution& convolution);

/// Copies one block of channels of a gradient [frame, y, x, out] into its border.
void copy_bordered(const SpikeConvolution& convolution, int64_t frames, int64_t block,
                   const float* gradient, float* bordered);

/// For each channel and class of rows and columns ([channel, class of y, class of x], both
/// tap_classes) the pixels where it spikes, over all frames in order. A pixel is given as the place
/// in bordered gradients of the output that meets it through the first taps of its class: tap row
/// class + n · stride meets the output n rows above, and likewise columns.
void list_by_channel(const SpikeConvolution& convolution, const SpikePlane& plane,
                     const SpikeLists& lists);
inline int64_t channel_list_starts(const SpikeConvolution& convolution) {
  const int64_t classes = tap_classes(convolution.geometry);
  return convolution.map.source.channels * classes * classes + 1;
}

/// Where a kernel puts one row of a block's outputs: [x, channel], pixels `stride` floats apart.
struct RowOutput {
  float* data = nullptr;
  int64_t stride = 0;
  int64_t channels = 0;  // of the block that are there: the last block may be narrower
};

/// One row of outputs = factor · Σ of the weight rows of its columns' spikes, or += with
/// `accumulate`. Per output: tap columns in order, within one the listed order; then the factor
/// once. The lists of output row y start at starts + y · width of the pooled input.
struct ColumnSums {
  const int32_t* starts = nullptr;  // of the row's columns of input
  const int32_t* entries = nullptr;
  const float* block_weights = nullptr;
  float factor = 1.0F;
  bool accumulate = false;
};
using SpikeConvRow = void(const SpikeConvolution& convolution, const ColumnSums& sums,
                          const RowOutput& output);

/// Adds one plane's part to one block of the packed weight gradient: += weight · scale · Σ of the
/// gradients that its spikes meet, in the listed order. `bordered` holds the block's channels as
/// copy_bordered lays them out.
using SpikeConvWeightGradient = void(const SpikeConvolution& convolution, const SpikePlane& plane,
                                     const SpikeLists& by_channel, const float* bordered,
                                     float* block_gradient);

/// [tap, in, out] to the layout above, and the sum of a packed gradient back.
void pack_spike_weights(const SpikeConvolution& convolution, const float* weights, float* packed);
void unpack_spike_gradient(const SpikeConvolution& convolution, const float* packed,
                           float* weights);

}  // namespace bntt::kernels
