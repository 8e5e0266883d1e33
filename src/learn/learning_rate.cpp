#include "bntt/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "base/kinds.h"
#include "learn/schedules.h"

namespace bntt {
namespace {

double constant(const LearningRateOptions& options, const SchedulePosition& /*position*/) {
  return options.learning_rate;
}

double steps(const LearningRateOptions& options, const SchedulePosition& position) {
  double rate = options.learning_rate;
  for (const double fraction : options.drops) {
    if (position.step >= fraction * position.all_steps) rate *= options.drop_factor;
  }
  return rate;
}

/// From one rate to another along half a cosine; `progress` 0 to 1.
double eased(double from, double to, double progress) {
  return to + (from - to) * 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
}

// Begins where the warm-up ends. With a half period shorter than the run it rises and falls again,
// like PyTorch's CosineAnnealingLR.
double cosine(const LearningRateOptions& options, const SchedulePosition& position) {
  const double begin = options.warmup_epochs * position.steps_per_epoch;
  const double half_period = options.cosine_epochs > 0.0
                                 ? options.cosine_epochs * position.steps_per_epoch
                                 : position.all_steps - begin;
  if (position.step <= begin) return options.learning_rate;
  return eased(options.learning_rate, options.final_learning_rate,
               (position.step - begin) / half_period);
}

// PyTorch's OneCycleLR: the first part ends at step rise · all − 1, the second with the last step.
double one_cycle(const LearningRateOptions& options, const SchedulePosition& position) {
  const double first = options.learning_rate / options.one_cycle_start_divisor;
  const double last = first / options.one_cycle_end_divisor;
  const double peak = options.one_cycle_rise * position.all_steps - 1.0;
  const double end = position.all_steps - 1.0;
  if (position.step <= peak) {
    return peak > 0.0 ? eased(first, options.learning_rate, position.step / peak)
                      : options.learning_rate;
  }
  return eased(options.learning_rate, last, (position.step - peak) / (end - peak));
}

constexpr ScheduleEntry kSchedules[] = {
    {"steps", "multiplied by the drop factor at each fraction in drops", true, steps},
    {"cosine", "half a cosine from the learning rate to the final learning rate", true, cosine},
    {"one-cycle", "rises to the learning rate, then falls to almost nothing", false, one_cycle},
    {"constant", "the learning rate throughout", true, constant},
};

void expect(bool met, const char* what, double value, const char* expected) {
  if (!met) fail("learning rate: {} is {}, expected {}", what, value, expected);
}

void expect_valid(const LearningRateOptions& options) {
  const auto is_rate = [](double value) { return value >= 0.0 && std::isfinite(value); };
  const char* at_least_zero = "a finite number of at least 0";
  const char* at_least_one = "a finite number of at least 1";
  expect(is_rate(options.learning_rate), "learning_rate", options.learning_rate, at_least_zero);
  expect(is_rate(options.final_learning_rate), "final_learning_rate", options.final_learning_rate,
         at_least_zero);
  expect(is_rate(options.cosine_epochs), "cosine_epochs", options.cosine_epochs, at_least_zero);
  expect(is_rate(options.warmup_epochs), "warmup_epochs", options.warmup_epochs, at_least_zero);
  expect(is_rate(options.one_cycle_start_divisor - 1.0), "one_cycle_start_divisor",
         options.one_cycle_start_divisor, at_least_one);
  expect(is_rate(options.one_cycle_end_divisor - 1.0), "one_cycle_end_divisor",
         options.one_cycle_end_divisor, at_least_one);
  expect(options.one_cycle_rise > 0.0 && options.one_cycle_rise < 1.0, "one_cycle_rise",
         options.one_cycle_rise, "more than 0 and less than 1");
  expect(options.drop_factor > 0.0 && options.drop_factor <= 1.0, "drop_factor",
         options.drop_factor, "more than 0 and at most 1");
  double before = 0.0;
  for (const double drop : options.drops) {
    expect(drop > before && drop < 1.0, "a drop", drop, "ascending fractions between 0 and 1");
    before = drop;
  }
}

}  // namespace

std::span<const ScheduleEntry> schedule_table() { return kSchedules; }

std::vector<KindInfo> schedule_kinds() { return kinds_of(schedule_table()); }

double learning_rate_at(const LearningRateOptions& options, int64_t step,
                        const TrainingLength& length) {
  expect_valid(options);
  if (step < 0 || length.epochs < 0 || length.steps_per_epoch < 1) {
    fail(
        "learning rate: step {} of {} epochs of {} steps, expected a step of at least 0 in epochs "
        "of at least 1 step",
        step, length.epochs, length.steps_per_epoch);
  }
  const auto& schedule = find_kind<ScheduleEntry>("schedule", options.schedule, kSchedules);
  if (!schedule.warms_up && options.warmup_epochs > 0.0) {
    fail(
        "learning rate: warmup_epochs is {}, expected 0, since the schedule '{}' has its own "
        "warm-up",
        options.warmup_epochs, options.schedule);
  }
  const auto steps_per_epoch = static_cast<double>(length.steps_per_epoch);
  const SchedulePosition position{.step = static_cast<double>(step),
                                  .all_steps = static_cast<double>(length.epochs) * steps_per_epoch,
                                  .steps_per_epoch = steps_per_epoch};
  double rate = schedule.rate(options, position);
  const double warmup_steps = options.warmup_epochs * position.steps_per_epoch;
  if (warmup_steps > 0.0) rate *= std::min(1.0, (position.step + 1.0) / warmup_steps);
  return rate;
}

}  // namespace bntt
