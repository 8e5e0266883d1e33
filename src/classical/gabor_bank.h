#pragma once

#include <cstdint>
#include <vector>

namespace bntt {

/// HFirst's filters: g = exp(-(x'² + γ²y'²)/2σ²) cos(2πx'/λ) with x' = x cos θ + y sin θ and
/// y' = -x sin θ + y cos θ, at θ = πk/12. Each is centred on 0, scaled to length 100 and rounded.
struct GaborBank {
  static constexpr int kRadius = 3;
  static constexpr int kSide = 2 * kRadius + 1;
  static constexpr int kOrientations = 12;

  GaborBank();

  /// The weight at offset (dx, dy) from the filter's centre, for orientation k.
  int32_t at(int dx, int dy, int k) const { return row(dx, dy)[k]; }
  /// The weights of all orientations.
  const int32_t* row(int dx, int dy) const {
    return weights.data() + ((dy + kRadius) * kSide + dx + kRadius) * kOrientations;
  }

  std::vector<int32_t> weights;  ///< [y, x, orientation]
};

}  // namespace bntt
