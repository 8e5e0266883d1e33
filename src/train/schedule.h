#pragma once

#include <cstdint>

#include "train/config.h"

namespace bntt {

/// The learning rate of a training step, by its position among all steps: a linear warm-up, if any,
/// then a drop at each fraction of the run. Positions, not epochs, so that no epoch count skips a
/// drop.
double learning_rate_at(const TrainConfig& train, int64_t step, int64_t steps_per_epoch);

}  // namespace bntt
