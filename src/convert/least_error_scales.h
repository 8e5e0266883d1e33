#pragma once

#include "convert/calibration.h"
#include "model/quantise.h"

namespace bntt {

/// How far the currents of a branch are from those of fp32 weights: √(Σ error² / Σ current²).
struct CurrentErrors {
  double of_largest = 0.0;  ///< with 127 scales = the largest |weight|
  double of_chosen = 0.0;
};

struct LeastErrorScales {
  WeightScales scales;
  std::vector<CurrentErrors> errors;  ///< of every branch; zeros where weights stay fp32
  bool stopped = false;               ///< by the calibration's `progress`
};

/// Scales of the given branches. For every output channel that share of the largest value's scale,
/// from 1 down to one half, whose currents have the least squared error over the calibration's
/// images: a smaller scale cuts off the largest weights and rounds all others more finely.
LeastErrorScales least_error_scales(const Network& network, const std::vector<bool>& branches,
                                    const Calibration& calibration);

}  // namespace bntt
