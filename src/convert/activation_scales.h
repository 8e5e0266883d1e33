#pragma once

#include <string>
#include <vector>

#include "bntt/network.h"
#include "convert/calibration.h"

namespace bntt {

/// For every hidden stage of an ANN, the percentile of its activations above 0 (Diehl et al. 2015
/// take the largest, Rueckauer et al. 2017 the 99.9th percentile). The encoder must be direct.
/// Throws an Error that begins with `origin` for a stage whose neurons are all silent.
std::vector<float> activation_scales(const Network& ann, const Calibration& calibration,
                                     const std::string& origin);

/// θ_l = s_l/s_{l−1}, with s_0 = `input_scale`.
std::vector<float> thresholds_of_scales(const std::vector<float>& scales, float input_scale);

}  // namespace bntt
