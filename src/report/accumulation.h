#pragma once

#include <cstdint>
#include <vector>

#include "base/json.h"
#include "bntt/signal.h"

namespace bntt {

// Spikes of the first image of a train, summed over its first steps, as pictures: [{steps, image}].

/// The steps after which a picture is shown: 1, 2, 4, ... and the last.
std::vector<int64_t> shown_steps(int64_t steps);

/// Mean spikes per step, which approach the image; signed ones from -1 (black) to +1 (white).
Json accumulated_input(const SpikeTrain& spikes);

/// All channels of a stage together; white is the most active pixel after the last step.
Json accumulated_stage(const SpikeTrain& spikes);

}  // namespace bntt
