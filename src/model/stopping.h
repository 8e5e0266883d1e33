#pragma once

#include <cstdint>

#include "bntt/network.h"

namespace bntt {

/// Steps of each stage in a run that is stopped after `steps` steps; 0 stands for all of them.
/// Throws Error unless the readout sees something by then and the spec has so many.
int64_t active_steps_until(const NetworkSpec& spec, int64_t steps);

/// What the logits of a run that was stopped after `steps` steps must be multiplied with: the spec
/// divides by all steps, a shorter run by its own.
float stopped_logit_scale(const NetworkSpec& spec, int64_t steps);

/// Long runs are computed by windows of so many steps at most: the state is kept from window to
/// window, and nothing else, so that their memory does not grow with the steps.
inline constexpr int64_t kStepsPerWindow = 25;

/// As many as keep the currents of the largest stage, over `steps` steps, within a quarter of a
/// gigabyte.
int64_t images_per_batch(const Network& network, int64_t steps);

}  // namespace bntt
