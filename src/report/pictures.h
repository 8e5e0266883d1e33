#pragma once

#include <cstdint>
#include <span>

#include "bntt/data/picture.h"
#include "bntt/shape.h"

namespace bntt {

/// An image [y, x, channel]: one channel is grey, the first three of several are red, green, blue.
Picture image_picture(std::span<const uint8_t> pixels, const MapShape& shape);

/// Events of one interval [y, x, polarity], off before on: on is red, off is blue, none is white.
/// `peak` events have the full colour.
Picture event_picture(std::span<const uint8_t> counts, const MapShape& shape, uint8_t peak);

}  // namespace bntt
