#include "train/schedule.h"

#include <algorithm>

namespace bntt {

double learning_rate_at(const TrainConfig& train, int64_t step, int64_t steps_per_epoch) {
  const auto all_steps = static_cast<double>(train.epochs * steps_per_epoch);
  double rate = train.learning_rate;
  for (const double fraction : train.drops) {
    if (static_cast<double>(step) >= fraction * all_steps) rate *= train.drop_factor;
  }
  const double warmup_steps = train.warmup_epochs * static_cast<double>(steps_per_epoch);
  if (warmup_steps > 0.0) {
    rate *= std::min(1.0, (static_cast<double>(step) + 1.0) / warmup_steps);
  }
  return rate;
}

}  // namespace bntt
