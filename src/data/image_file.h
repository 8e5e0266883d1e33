#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace bntt {

/// Three channels, 8 bits each; grey images have three equal ones, transparent pixels are over
/// black.
struct DecodedImage {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> pixels;  ///< [y, x, channel]
};

/// A JPEG or PNG file, told apart by its first bytes. `origin` starts every error sentence. What
/// the header announces is believed only up to 2^25 pixels, and up to what so many bytes can hold.
DecodedImage decode_image(std::span<const uint8_t> bytes, const std::string& origin);

/// size x size pixels by averaging with a triangle as wide as the scale asks for (what is commonly
/// called antialiased bilinear): [y, x, channel].
void fit_image(const DecodedImage& image, int64_t size, Fit fit, uint8_t* out);

}  // namespace bntt
