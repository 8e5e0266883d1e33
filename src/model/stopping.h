#pragma once

#include <cstdint>
#include <span>

#include "bntt/network.h"

namespace bntt {

/// Steps of each stage in a run that is stopped after `steps` steps; 0 means all of them. Throws
/// Error if nothing has reached the readout by then, or if the spec has fewer steps.
int64_t active_steps_until(const NetworkSpec& spec, int64_t steps);

/// The factor for the logits of a run that was stopped after `steps` steps: the spec divides by all
/// steps, a shorter run by its own.
float stopped_logit_scale(const NetworkSpec& spec, int64_t steps);

/// What PredictOptions::exit_confidence is compared with after `steps` steps: the largest
/// probability of the softmax of the voltage divided by these steps, on the scale of a whole run.
double exit_confidence(std::span<const float> logits, const NetworkSpec& spec, int64_t steps);

/// Long runs are computed in windows of at most this many steps. Only the state is kept from window
/// to window, so that memory does not grow with the number of steps.
inline constexpr int64_t kStepsPerWindow = 25;

/// Limits the currents of the largest stage, over `steps` steps, to a quarter of a gigabyte.
int64_t images_per_batch(const Network& network, int64_t steps);

}  // namespace bntt
