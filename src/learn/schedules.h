#pragma once

#include <span>

#include "bntt/learning_rate.h"

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
  bool warms_up;  ///< whether a warm-up may come before it
  double (*rate)(const LearningRateOptions& options, const SchedulePosition& position);
};
/// Every kind of learning-rate schedule there is.
std::span<const ScheduleEntry> schedule_table();

}  // namespace bntt
