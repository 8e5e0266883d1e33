#pragma once

#include <cstdint>

#include "bntt/signal.h"
#include "kernels/unpack.h"

namespace bntt::kernels {

/// 3x3 convolution of spikes, padding 1, that walks the set bits and adds rows: work in proportion
/// to the spikes. Output channels are taken in blocks whose sums stay in registers; weights and
/// their gradient are laid out for that as [block, tap, in, channel of the block], zero past the
/// last channel.
struct SpikeConvolution {
  PooledMap map;  // of the input
  int64_t output_channels = 0;
  int64_t block_channels = 0;  // a whole number of vectors of the kernel set in use

  int64_t blocks() const { return (output_channels + block_channels - 1) / block_channels; }
  int64_t block_weights() const { return 9 * map.source.channels * block_channels; }
  int64_t packed_size() const { return blocks() * block_weights(); }
};

// Of 2, 4 and 8 vectors 4 was fastest or close to it at every density: a row of taps for 64 inputs
// then stays in the first-level cache.
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
inline int64_t pixel_list_starts(const PooledMap& map, int64_t frames) {
  return map.pooled().pixels() * frames + 1;
}
inline int64_t channel_list_starts(const PooledMap& map) { return map.source.channels + 1; }

/// The channels that spike at each pooled pixel of each frame, in the order of the window's pixels,
/// then of channels.
void list_by_pixel(const PooledMap& map, const SpikePlane& plane, const SpikeLists& lists);

/// For each channel the pixels where it spikes, over all frames in order, as offsets into maps that
/// carry a border of one pixel all round: frame · (height + 2)(width + 2) + (y + 1)(width + 2) + x
/// + 1 of the pooled map.
void list_by_channel(const PooledMap& map, const SpikePlane& plane, const SpikeLists& lists);

/// output [frame, y, x, channel] = weight · scale · Σ of the weight rows of a plane's spikes, or +=
/// with `accumulate`. Per output: taps in order, within a tap the listed order; then the factor
/// once.
using SpikeConvForward = void(const SpikeConvolution& convolution, const SpikePlane& plane,
                              const SpikeLists& by_pixel, const float* packed_weights,
                              bool accumulate, float* output);

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
