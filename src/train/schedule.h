#pragma once

#include <cstdint>
#include <vector>

#include "bntt/learning_rate.h"
#include "train/config.h"

namespace bntt {

LearningRateOptions learning_rate_options(const TrainConfig& train);

/// The learning rate of a training step of the run, counted from 0.
double learning_rate_at(const TrainConfig& train, int64_t step, int64_t steps_per_epoch);

/// A range of training steps and its learning rate: during a warm-up the rate at its end, for a
/// schedule that changes continuously the rate at its beginning.
struct RateStretch {
  int64_t first_step = 0;
  double learning_rate = 0.0;
};

/// The rates of the steps from `step` on, in order. Empty if none are left.
std::vector<RateStretch> rates_from(const TrainConfig& train, int64_t step,
                                    int64_t steps_per_epoch);

}  // namespace bntt
