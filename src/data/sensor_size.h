#pragma once

#include <cstdint>

namespace bntt {

/// Pixels of an event camera's sensor; 0x0: not known.
struct SensorSize {
  int64_t width = 0;
  int64_t height = 0;

  bool known() const { return width > 0 && height > 0; }
  bool operator==(const SensorSize&) const = default;
};

/// No format here can address more: .dat has 14 bits for each coordinate.
inline constexpr int64_t kLargestSensorSide = 1 << 14;

}  // namespace bntt
