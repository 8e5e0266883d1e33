#pragma once

#include <cstdint>
#include <span>

namespace bntt {

/// Images owned by the caller: [image, y, x, channel], 0 to 255, all of one size.
struct Images {
  std::span<const uint8_t> pixels;
  int64_t count = 0;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
};

}  // namespace bntt
