#include "train/schedule.h"

#include <algorithm>
#include <cmath>

namespace bntt {

LearningRateOptions learning_rate_options(const TrainConfig& train) {
  return {.schedule = train.schedule,
          .learning_rate = train.learning_rate,
          .drops = train.drops,
          .drop_factor = train.drop_factor,
          .final_learning_rate = train.final_learning_rate,
          .cosine_epochs = train.cosine_epochs,
          .one_cycle_rise = train.one_cycle_rise,
          .one_cycle_start_divisor = train.one_cycle_start_divisor,
          .one_cycle_end_divisor = train.one_cycle_end_divisor,
          .warmup_epochs = train.warmup_epochs};
}

double learning_rate_at(const TrainConfig& train, int64_t step, int64_t steps_per_epoch) {
  return learning_rate_at(learning_rate_options(train), step,
                          {.epochs = train.epochs, .steps_per_epoch = steps_per_epoch});
}

namespace {

/// The steps at which a stepwise schedule changes its rate; for one that changes continuously, four
/// points of the remaining steps.
std::vector<int64_t> changes_after(const TrainConfig& train, int64_t step, int64_t all_steps) {
  std::vector<int64_t> changes;
  if (train.schedule == "steps") {
    for (const double fraction : train.drops) {
      changes.push_back(static_cast<int64_t>(std::ceil(fraction * static_cast<double>(all_steps))));
    }
  } else if (train.schedule != "constant") {
    for (int64_t quarter = 1; quarter <= 3; ++quarter) {
      changes.push_back(step + (all_steps - step) * quarter / 4);
    }
    changes.push_back(all_steps - 1);
  }
  return changes;
}

}  // namespace

std::vector<RateStretch> rates_from(const TrainConfig& train, int64_t step,
                                    int64_t steps_per_epoch) {
  const int64_t all_steps = train.epochs * steps_per_epoch;
  const auto warmup_steps =
      static_cast<int64_t>(train.warmup_epochs * static_cast<double>(steps_per_epoch));
  std::vector<RateStretch> stretches;
  const auto begin_stretch = [&](int64_t first) {
    if (first >= all_steps) return;
    // Within the warm-up every step has its own rate.
    const int64_t shown = std::min(std::max(first, warmup_steps), all_steps - 1);
    stretches.push_back({first, learning_rate_at(train, shown, steps_per_epoch)});
  };
  begin_stretch(step);
  int64_t last = step;
  for (const int64_t first : changes_after(train, step, all_steps)) {
    if (first <= last) continue;
    begin_stretch(first);
    last = first;
  }
  return stretches;
}

}  // namespace bntt
