#pragma once

#include <cstdint>
#include <vector>

#include "train/config.h"

namespace bntt {

/// The learning rate of a training step, by its position among all steps: a linear warm-up, if any,
/// then a drop at each fraction of the run. Positions, not epochs, so that no epoch count skips a
/// drop.
double learning_rate_at(const TrainConfig& train, int64_t step, int64_t steps_per_epoch);

/// A stretch of training steps with one learning rate; during a warm-up, the one at its end.
struct RateStretch {
  int64_t first_step = 0;
  double learning_rate = 0.0;
};

/// The rates of the steps from `step` on, in order. Empty when none is left.
std::vector<RateStretch> rates_from(const TrainConfig& train, int64_t step,
                                    int64_t steps_per_epoch);

}  // namespace bntt
