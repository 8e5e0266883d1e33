#pragma once

#include <cstdint>

#include "bntt/input_spec.h"

namespace bntt {

/// Pixels of one image that someone else owns: [y, x, channel].
struct ImageView {
  int64_t width = 0;
  int64_t height = 0;
  int64_t channels = 0;
  const uint8_t* pixels = nullptr;
};

/// Height and width of an image's wanted form.
struct ImageSize {
  int64_t width = 0;
  int64_t height = 0;
};

/// The image in another size, by averaging with a triangle as wide as the scale requires (commonly
/// called antialiased bilinear): [y, x, channel].
void fit_image(const ImageView& image, const ImageSize& size, Fit fit, uint8_t* out);

}  // namespace bntt
