#pragma once

#include <cstdint>
#include <span>

namespace bntt {

/// Images owned by the caller: [image, y, x, channel], 0 to 255, all of one size.
struct Images {
  std::span<const uint8_t> pixels;  ///< [image, y, x, channel]
  int64_t count = 0;                ///< the number of images
  int64_t height = 0;               ///< of each image
  int64_t width = 0;                ///< of each image
  int64_t channels = 0;             ///< 1 (grey) or 3 (red, green, blue)
};

}  // namespace bntt
