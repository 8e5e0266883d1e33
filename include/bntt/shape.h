#pragma once

#include <cstdint>

namespace bntt {

/// One feature map, or the input image. A fully connected layer is a 1x1 map. Its functions do not
/// check that products fit into 64 bits: plan_stages and check_signal, which all networks and
/// signals pass, refuse larger maps.
struct MapShape {
  int64_t channels = 1;  ///< or features
  int64_t height = 1;    ///< in pixels
  int64_t width = 1;     ///< in pixels

  /// Of one channel.
  int64_t pixels() const { return height * width; }
  /// Values of one map.
  int64_t size() const { return channels * height * width; }
  bool operator==(const MapShape&) const = default;
};

/// A square convolution. The output at (y, x) sees the input at (y · stride − padding + tap row, x
/// · stride − padding + tap column); outside the map the input is zero. Its functions do not
/// check that their results fit into 64 bits: plan_stages limits kernel, stride, padding and maps.
struct ConvGeometry {
  int64_t kernel = 3;   ///< side of the square
  int64_t stride = 1;   ///< of both axes
  int64_t padding = 1;  ///< zeros around the map, at each side

  /// Weights per pair of channels.
  int64_t taps() const { return kernel * kernel; }
  /// Height or width of the output; 0 if the kernel is larger than the padded input or the stride
  /// is 0.
  int64_t output_extent(int64_t input) const {
    const int64_t room = input + 2 * padding - kernel;
    return room < 0 || stride < 1 ? 0 : room / stride + 1;
  }
  /// The map of the output, with extents as output_extent gives them.
  MapShape output(const MapShape& input, int64_t channels) const {
    return {channels, output_extent(input.height), output_extent(input.width)};
  }
  /// The case with special kernels (Winograd, tables); the output is as large as the input.
  bool is_same_3x3() const { return *this == ConvGeometry{}; }
  bool operator==(const ConvGeometry&) const = default;
};

/// How the values of a square become one.
enum class PoolKind {
  average,  ///< their mean
  sum,      ///< their sum
  max,      ///< the largest; for spikes, whether any fired
};

}  // namespace bntt
