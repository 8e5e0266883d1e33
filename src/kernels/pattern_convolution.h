#pragma once

#include <cstdint>
#include <vector>

#include "bntt/signal.h"
#include "kernels/spike_convolution.h"

namespace bntt::kernels {

/// 3x3 convolution, padding 1, of a map with so few bits per pixel (channels times planes) that a
/// table can hold the sum of weights for every possible pattern of a pixel: three signed channels
/// have 64 patterns. An output is then the sum of nine rows of the table, or of three if the
/// patterns of three neighbours fit a table: no lists, no branches, the same work at every density.
/// The first synapse after a Poisson encoder, whose input is never sparse, reads such a map.
struct PatternConvolution {
  MapShape map;  // of the input
  int64_t planes = 1;
  int64_t output_channels = 0;
  int64_t block_channels = 0;  // a whole number of vectors of the kernel set in use

  static constexpr int64_t kMaxBits = 6;
  static bool suits(const PooledMap& map, int64_t planes, const ConvGeometry& geometry = {}) {
    return geometry.is_same_3x3() && map.is_identity() && map.source.channels * planes <= kMaxBits;
  }

  int64_t bits_per_pixel() const { return map.channels * planes; }
  /// Adjacent pixels whose bits form one pattern.
  int64_t pixels_together() const { return 3 * bits_per_pixel() <= kMaxBits ? 3 : 1; }
  int64_t patterns() const { return int64_t{1} << (pixels_together() * bits_per_pixel()); }
  /// Table rows that one output adds.
  int64_t groups() const { return 9 / pixels_together(); }
  int64_t blocks() const { return (output_channels + block_channels - 1) / block_channels; }
  int64_t block_table() const { return groups() * patterns() * block_channels; }
  int64_t table_size() const { return blocks() * block_table(); }

  /// Patterns of a frame [y + 2, x + 2], or [y + 2, x] if three pixels form one pattern; the border
  /// has no spikes, so its pattern is 0.
  int64_t pattern_row() const { return pixels_together() == 3 ? map.width : map.width + 2; }
  int64_t frame_patterns() const { return (map.height + 2) * pattern_row(); }
};

/// Fills [block, group of taps, pattern, channel of the block] from the weights [tap, in, out]. Bit
/// (pixel of the group · planes + plane) · channels + channel of a pattern contributes plane weight
/// · weight; bits are added from the highest down.
void fill_pattern_table(const PatternConvolution& convolution, const float* weights,
                        const std::vector<float>& plane_weights, float* table);

/// Computes the patterns of one frame, whose planes are at `planes`.
void read_patterns(const PatternConvolution& convolution,
                   const std::vector<const SpikeWord*>& planes, uint8_t* patterns);

/// One row of a block's outputs: the table's rows added in the order of groups. `patterns` are
/// those of the three input rows it depends on, starting with the one above.
using PatternConvRow = void(const PatternConvolution& convolution, const uint8_t* patterns,
                            const float* block_table, const RowOutput& output);

}  // namespace bntt::kernels
