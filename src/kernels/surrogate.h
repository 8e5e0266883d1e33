#pragma once

#include <cmath>
#include <numbers>

#include "bntt/network_spec.h"

namespace bntt::kernels {

/// ∂o/∂v at membrane v; the shapes are defined at SurrogateKind.
inline float surrogate_slope(const SurrogateSpec& surrogate, float v, float threshold) {
  const float distance = (v - threshold) * (1.0F / threshold);  // as the vector kernels have it
  switch (surrogate.kind) {
    case SurrogateKind::triangle: {
      const float height = 1.0F - std::fabs(distance);
      return height > 0.0F ? surrogate.alpha * height : 0.0F;
    }
    case SurrogateKind::sigmoid: {
      const float s = 1.0F / (1.0F + std::exp(-4.0F * distance));
      return surrogate.alpha * 4.0F * s * (1.0F - s);
    }
    case SurrogateKind::arctan: {
      const float scaled = std::numbers::pi_v<float> * distance;
      return surrogate.alpha / (1.0F + scaled * scaled);
    }
    case SurrogateKind::rectangle:
      break;
  }
  return std::fabs(distance) < 0.5F ? surrogate.alpha : 0.0F;
}

}  // namespace bntt::kernels
