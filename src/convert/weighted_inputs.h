#pragma once

#include <string>
#include <vector>

#include "convert/calibration.h"
#include "convert/spiking_copy.h"

namespace bntt {

/// Balances thresholds as in Sengupta et al. (2019): stage after stage, θ_l is the largest weighted
/// input of one step, over images, steps and neurons, while the stages before it fire with their
/// thresholds. Below 100, the percentile is taken over the neurons of each image at each step, and
/// the largest of these is θ_l (as in DIET-SNN). `factor` multiplies the thresholds of earlier
/// stages during the search only. Throws an Error that begins with `origin` for a stage without any
/// input above 0.
std::vector<float> balanced_thresholds(const Network& ann, const SpikingOptions& options,
                                       const Calibration& calibration, float factor,
                                       const std::string& origin);

}  // namespace bntt
