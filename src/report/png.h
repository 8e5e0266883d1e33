#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bntt/shape.h"

namespace bntt {

/// "data:image/png;base64,..." of an image [y, x, channel] with one channel (grey) or three (RGB).
/// For any other number of channels, shows their mean.
std::string png_data_uri(std::span<const uint8_t> pixels, const MapShape& shape);

}  // namespace bntt
