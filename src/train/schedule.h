#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "train/config.h"

namespace bntt {

/// A place in the run. All in training steps: positions, not epochs, so that no epoch count skips a
/// part of a schedule.
struct SchedulePosition {
  double step = 0.0;
  double all_steps = 0.0;
  double steps_per_epoch = 0.0;
};

struct ScheduleEntry {
  const char* name;
  const char* meaning;
  bool warms_up;  ///< whether train.warmup_epochs may come before it
  double (*rate)(const TrainConfig& train, const SchedulePosition& position);
};
/// Every kind of learning-rate schedule there is.
std::span<const ScheduleEntry> schedule_table();

/// The learning rate of a training step, counted from 0: a pure function of its position. A linear
/// warm-up, if any, then train.schedule.
double learning_rate_at(const TrainConfig& train, int64_t step, int64_t steps_per_epoch);

/// A stretch of training steps and its learning rate: during a warm-up the one at its end, of a
/// schedule that changes all the time the one at its beginning.
struct RateStretch {
  int64_t first_step = 0;
  double learning_rate = 0.0;
};

/// The rates of the steps from `step` on, in order. Empty when none is left.
std::vector<RateStretch> rates_from(const TrainConfig& train, int64_t step,
                                    int64_t steps_per_epoch);

}  // namespace bntt
