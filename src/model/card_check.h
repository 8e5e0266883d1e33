#pragma once

#include "bntt/model.h"

namespace bntt {

/// Frames of one event recording.
inline constexpr int64_t kMostEventFrames = 1 << 16;

// Both throw Error, also for values that a file could not hold.
void expect_input_fits(const InputSpec& input, const NetworkSpec& spec);
void expect_card_fits(const ModelCard& card, const NetworkSpec& spec);

}  // namespace bntt
