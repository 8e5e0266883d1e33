#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/kinds.h"

namespace bntt {
namespace {

double constant(const TrainConfig& train, const SchedulePosition& /*position*/) {
  return train.learning_rate;
}

double steps(const TrainConfig& train, const SchedulePosition& position) {
  double rate = train.learning_rate;
  for (const double fraction : train.drops) {
    if (position.step >= fraction * position.all_steps) rate *= train.drop_factor;
  }
  return rate;
}

/// From one rate to another along half a cosine; `progress` 0 to 1.
double eased(double from, double to, double progress) {
  return to + (from - to) * 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
}

// Begins where the warm-up ends. With a half period shorter than the run it rises and falls again,
// as PyTorch's CosineAnnealingLR.
double cosine(const TrainConfig& train, const SchedulePosition& position) {
  const double begin = train.warmup_epochs * position.steps_per_epoch;
  const double half_period = train.cosine_epochs > 0.0
                                 ? train.cosine_epochs * position.steps_per_epoch
                                 : position.all_steps - begin;
  if (position.step <= begin) return train.learning_rate;
  return eased(train.learning_rate, train.final_learning_rate,
               (position.step - begin) / half_period);
}

// PyTorch's OneCycleLR: the first part ends at step rise · all − 1, the second with the last step.
double one_cycle(const TrainConfig& train, const SchedulePosition& position) {
  const double first = train.learning_rate / train.one_cycle_start_divisor;
  const double last = first / train.one_cycle_end_divisor;
  const double peak = train.one_cycle_rise * position.all_steps - 1.0;
  const double end = position.all_steps - 1.0;
  if (position.step <= peak) {
    return peak > 0.0 ? eased(first, train.learning_rate, position.step / peak)
                      : train.learning_rate;
  }
  return eased(train.learning_rate, last, (position.step - peak) / (end - peak));
}

constexpr ScheduleEntry kSchedules[] = {
    {"steps", "times train.drop_factor at every fraction of train.drops", true, steps},
    {"cosine", "half a cosine from train.learning_rate to train.final_learning_rate", true, cosine},
    {"one-cycle", "rises to train.learning_rate, then falls to almost nothing", false, one_cycle},
    {"constant", "train.learning_rate throughout", true, constant},
};

}  // namespace

std::span<const ScheduleEntry> schedule_table() { return kSchedules; }

double learning_rate_at(const TrainConfig& train, int64_t step, int64_t steps_per_epoch) {
  const SchedulePosition position{.step = static_cast<double>(step),
                                  .all_steps = static_cast<double>(train.epochs * steps_per_epoch),
                                  .steps_per_epoch = static_cast<double>(steps_per_epoch)};
  double rate =
      find_kind<ScheduleEntry>("schedule", train.schedule, kSchedules).rate(train, position);
  const double warmup_steps = train.warmup_epochs * position.steps_per_epoch;
  if (warmup_steps > 0.0) rate *= std::min(1.0, (position.step + 1.0) / warmup_steps);
  return rate;
}

namespace {

/// Where a schedule that changes by steps gets a new rate; of one that changes all the time, four
/// places on the rest of the way.
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
