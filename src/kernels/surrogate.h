#pragma once

#include <cmath>
#include <numbers>

#include "bntt/network_spec.h"

namespace bntt::kernels {

/// ∂o/∂v at membrane v; the shapes are defined at SurrogateKind.
template <SurrogateKind kind>
inline float surrogate_slope(float v, float threshold, float alpha) {
  const float distance = (v - threshold) / threshold;
  if constexpr (kind == SurrogateKind::triangle) {
    const float height = 1.0F - std::fabs(distance);
    return height > 0.0F ? alpha * height : 0.0F;
  } else if constexpr (kind == SurrogateKind::sigmoid) {
    const float s = 1.0F / (1.0F + std::exp(-4.0F * distance));
    return alpha * 4.0F * s * (1.0F - s);
  } else if constexpr (kind == SurrogateKind::arctan) {
    const float scaled = std::numbers::pi_v<float> * distance;
    return alpha / (1.0F + scaled * scaled);
  } else {
    return std::fabs(distance) < 0.5F ? alpha : 0.0F;
  }
}

}  // namespace bntt::kernels
