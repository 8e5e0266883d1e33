#pragma once

#include "bntt/data/picture.h"
#include "input/fit_image.h"

namespace bntt {

/// Larger image files are rejected.
inline constexpr uint64_t kLargestImageFile = 256U << 20;

inline ImageView view_of(const Picture& picture) {
  return {picture.width, picture.height, 3, picture.pixels.data()};
}

}  // namespace bntt
