#include "train/schedule.h"

#include <algorithm>
#include <cmath>

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
  for (const double fraction : train.drops) {
    // The first step that learning_rate_at drops at.
    const auto first = static_cast<int64_t>(std::ceil(fraction * static_cast<double>(all_steps)));
    if (first > step) begin_stretch(first);
  }
  return stretches;
}

}  // namespace bntt
