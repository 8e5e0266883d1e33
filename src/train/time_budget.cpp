#include "train/time_budget.h"

#include <fmt/format.h>

#include <algorithm>

namespace bntt {
namespace {

constexpr int64_t kFirstSteps = 20;
constexpr double kLongEnough = 30.0;    // seconds after which fewer steps are enough
constexpr double kPassesOfAStep = 3.0;  // forward, and backward for inputs and for weights
constexpr double kSecondsPerMinute = 60.0;

std::string minutes_text(double seconds) {
  const double minutes = seconds / kSecondsPerMinute;
  return minutes < 10.0 ? fmt::format("{:.2g} minutes", minutes)
                        : fmt::format("{:.0f} minutes", minutes);
}

std::string epochs_text(int64_t epochs) {
  return fmt::format("{} epoch{}", epochs, epochs == 1 ? "" : "s");
}

}  // namespace

BudgetEstimate estimate_budget(const StepReport& report, const TrainingPace& pace, double spent,
                               double limit) {
  // An epoch ends with its validation, which is still to come after its last step.
  BudgetEstimate estimate{.seconds = spent, .epochs = report.epoch - 1};
  for (int64_t epoch = report.epoch; epoch <= report.epochs; ++epoch) {
    const int64_t steps = epoch == report.epoch ? report.batches - report.batch : report.batches;
    estimate.seconds +=
        static_cast<double>(steps) * pace.seconds_per_step + pace.seconds_per_validation;
    if (estimate.seconds <= limit) estimate.epochs = epoch;
  }
  estimate.fits = estimate.epochs == report.epochs;
  return estimate;
}

double TimeBudget::seconds_per_step() const {
  return (last_time_ - first_time_) / static_cast<double>(std::max<int64_t>(1, steps_ - 1));
}

std::string TimeBudget::sentence(const TrainingPace& pace) const {
  const BudgetEstimate estimate = estimate_budget(last_, pace, last_time_, limit_);
  const std::string whole = fmt::format("{} will take about {} of this command",
                                        epochs_text(last_.epochs), minutes_text(estimate.seconds));
  if (estimate.fits) return fmt::format("{} and fit into {}", whole, minutes_text(limit_));
  if (estimate.epochs == 0) {
    return fmt::format("{}: not even one epoch fits into {}", whole, minutes_text(limit_));
  }
  return fmt::format("{}: {} fit into {}; the schedule is that of {} all the same (see --epochs)",
                     whole, epochs_text(estimate.epochs), minutes_text(limit_),
                     epochs_text(last_.epochs));
}

std::optional<std::string> TimeBudget::after_step(const StepReport& report) {
  last_ = report;
  last_time_ = clock_().seconds;
  if (steps_++ == 0) first_time_ = last_time_;
  const bool enough =
      steps_ > kFirstSteps || (steps_ > 1 && last_time_ - first_time_ > kLongEnough);
  if (told_after_steps_ || !enough) return std::nullopt;
  told_after_steps_ = true;
  const double batches = static_cast<double>(validation_images_) / static_cast<double>(batch_);
  return sentence({.seconds_per_step = seconds_per_step(),
                   .seconds_per_validation = batches * seconds_per_step() / kPassesOfAStep});
}

std::optional<std::string> TimeBudget::after_epoch() {
  if (told_after_epoch_ || steps_ < 2) return std::nullopt;
  told_after_epoch_ = told_after_steps_ = true;
  return sentence({.seconds_per_step = seconds_per_step(),
                   .seconds_per_validation = clock_().seconds - last_time_});
}

}  // namespace bntt
