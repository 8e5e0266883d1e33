#pragma once

#include <cstdint>

#include "bntt/data/recording.h"

namespace bntt {

/// No supported format can address more: .dat has 14 bits for each coordinate.
inline constexpr int64_t kLargestSensorSide = 1 << 14;

}  // namespace bntt
