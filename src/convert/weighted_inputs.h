#pragma once

#include <string>
#include <vector>

#include "convert/calibration.h"
#include "convert/spiking_copy.h"

namespace bntt {

/// Thresholds as Sengupta et al. (2019) balance them: stage after stage, θ_l is the largest
/// weighted input of one step, over images, steps and neurons, while the stages before it fire with
/// theirs. Below 100, the percentile is taken over the neurons of each image at each step, and the
/// largest of these is θ_l (DIET-SNN's way). `factor` multiplies the thresholds of earlier stages
/// during the search alone. Throws Error, beginning with `origin`, for a stage that nothing above 0
/// reaches.
std::vector<float> balanced_thresholds(const Network& ann, const SpikingOptions& options,
                                       const Calibration& calibration, float factor,
                                       const std::string& origin);

}  // namespace bntt
