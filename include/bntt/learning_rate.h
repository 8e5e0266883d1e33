#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bntt/api.h"
#include "bntt/kind_info.h"

namespace bntt {

/// How the learning rate changes during training. Lengths are in epochs or fractions of all epochs,
/// so that they keep their meaning when the batch size changes.
struct LearningRateOptions {
  std::string schedule = "steps";               ///< a name of schedule_kinds()
  double learning_rate = 0.3;                   ///< the largest one
  std::vector<double> drops = {0.5, 0.7, 0.9};  ///< of `steps`: fractions of the epochs, ascending
  double drop_factor = 0.1;                     ///< of `steps`: the factor of each drop
  double final_learning_rate = 0.0;             ///< of `cosine`
  double cosine_epochs = 0.0;             ///< half a period of `cosine`; 0: all remaining epochs
  double one_cycle_rise = 0.3;            ///< fraction of the epochs
  double one_cycle_start_divisor = 25.0;  ///< of `one-cycle`: largest rate divided by first rate
  double one_cycle_end_divisor = 1e4;     ///< first rate divided by last rate
  double warmup_epochs = 0.0;             ///< of a linear warm-up; not for one-cycle
};

/// The length of a training run.
struct TrainingLength {
  int64_t epochs = 1;           ///< of the whole run
  int64_t steps_per_epoch = 1;  ///< training steps in each of them
};

/// The kinds of schedule. May be called from any thread, as may learning_rate_at.
BNTT_API std::vector<KindInfo> schedule_kinds();

/// The learning rate of a training step, counted from 0: a pure function of its position. Throws
/// Error for an unknown schedule, for options out of range, a negative step or an empty epoch.
BNTT_API double learning_rate_at(const LearningRateOptions& options, int64_t step,
                                 const TrainingLength& length);

}  // namespace bntt
