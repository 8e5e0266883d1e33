#pragma once

#include <optional>
#include <string>

#include "train/run_trainer.h"
#include "train/times.h"

namespace bntt {

/// What is known about the speed of a training.
struct TrainingPace {
  double seconds_per_step = 0.0;
  double seconds_per_validation = 0.0;  ///< after each epoch
};

/// How far a training gets within a limit of time.
struct BudgetEstimate {
  double seconds = 0.0;  ///< of the command, from its start to the end of the last epoch
  int64_t epochs = 0;    ///< of the run that will be done in time, with those done before
  bool fits = false;     ///< whether these are all of them
};

/// `report` says where the training is after `spent` seconds.
BudgetEstimate estimate_budget(const StepReport& report, const TrainingPace& pace, double spent,
                               double limit);

/// Watches the clock of a training with a limit of time. The limit never changes the schedule,
/// since results must not depend on the machine's speed.
class TimeBudget {
 public:
  /// `validation_images` and `batch` give a first idea of how long a validation takes.
  TimeBudget(double limit_seconds, TrainClock clock, int64_t validation_images, int64_t batch)
      : limit_(limit_seconds),
        clock_(std::move(clock)),
        validation_images_(validation_images),
        batch_(batch) {}

  bool over() const { return clock_().seconds > limit_; }

  /// To be called after every step, and after every epoch's validation. Each returns a sentence
  /// once: how long the whole schedule takes and how many epochs fit into the limit.
  std::optional<std::string> after_step(const StepReport& report);
  std::optional<std::string> after_epoch();

 private:
  std::string sentence(const TrainingPace& pace) const;
  double seconds_per_step() const;

  double limit_;
  TrainClock clock_;
  int64_t validation_images_;
  int64_t batch_;
  StepReport last_;
  double first_time_ = 0.0;  ///< after the first step, which also allocates memory
  double last_time_ = 0.0;
  int64_t steps_ = 0;  ///< in this session
  bool told_after_steps_ = false;
  bool told_after_epoch_ = false;
};

}  // namespace bntt
