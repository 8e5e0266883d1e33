#pragma once

#include <cstdint>
#include <span>

#include "bntt/buffer.h"

namespace bntt {

/// The integer nearest to weight / scale, at most 127 away from 0.
int8_t nearest_integer(float weight, float scale);

/// The integers q of weights that are scale · q, one scale for each output channel: weights are
/// [tap or pixel, in, out]. Throws Error unless every weight is such a product.
Buffer<int8_t> integer_weights(std::span<const float> weights, std::span<const float> scales);

}  // namespace bntt
