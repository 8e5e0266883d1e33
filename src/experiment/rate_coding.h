#pragma once

#include <cstdint>
#include <vector>

#include "train/config.h"

namespace bntt {

/// Images of a run's data set beside the sums of their input spikes after 1, 2, 4, ... steps, as a
/// PNG file (the paper's Appendix B). Needs no training. Throws Error for a run whose input is not
/// rate-coded.
std::vector<uint8_t> rate_coding_sheet(const RunConfig& config);

}  // namespace bntt
