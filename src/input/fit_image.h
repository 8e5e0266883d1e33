#pragma once

#include <cstdint>

#include "bntt/input_spec.h"

namespace bntt {

/// Pixels of one image, not owned: [y, x, channel].
struct ImageView {
  int64_t width = 0;
  int64_t height = 0;
  int64_t channels = 0;
  const uint8_t* pixels = nullptr;
};

/// Target height and width of an image.
struct ImageSize {
  int64_t width = 0;
  int64_t height = 0;
};

/// Resizes the image by averaging with a triangle as wide as the scale requires (commonly called
/// antialiased bilinear): [y, x, channel].
void fit_image(const ImageView& image, const ImageSize& size, Fit fit, uint8_t* out);

}  // namespace bntt
