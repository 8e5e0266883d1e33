#pragma once

#include <span>

#include "bntt/learning_rate.h"

namespace bntt {

/// A position in the run, in training steps instead of epochs, so that no part of a schedule is
/// skipped with any number of epochs.
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
/// All kinds of learning-rate schedule.
std::span<const ScheduleEntry> schedule_table();

}  // namespace bntt
