#pragma once

#include <optional>
#include <vector>

#include "analyse/inference.h"
#include "analyse/loss_bound.h"

namespace bntt {

/// Dense-equivalent multiply-adds of one image up to each step: [step − first exit]. A constant
/// input is processed once.
std::vector<double> work_until(const Network& network, const StepWindows& given,
                               bool constant_input);

/// Images with their answers at every possible exit step, known without running them again.
struct ExitAnswers {
  const Trajectory& trajectory;
  const std::vector<int64_t>& labels;
  const std::vector<double>& work;  ///< work_until

  int64_t images() const { return static_cast<int64_t>(labels.size()); }
};

/// [image]: whether the answer is right if every image stops after `step` steps of the run.
std::vector<bool> right_at(const ExitAnswers& judged, int64_t step);
/// Share of right answers, in percent.
double accuracy_of(const std::vector<bool>& right);

struct SampleOutcome {
  std::vector<bool> right;  ///< [image]
  double mean_steps = 0.0;
  double mean_work = 0.0;

  double accuracy() const { return accuracy_of(right); }
};
/// The outcome if each image stops as soon as its measure reaches the limit, at the latest after
/// `last` steps.
SampleOutcome outcome_of(const ExitAnswers& judged, SampleExit measure, double limit, int64_t last);

/// The loss that a rule may cause, and the confidence with which it must stay below.
struct LossLimit {
  const std::vector<bool>& whole;  ///< [image]: right with all steps
  double max_loss = 0.0;           ///< points
  double confidence = kBoundConfidence;

  bool holds(const std::vector<bool>& right) const {
    return loss_bound(paired_answers(whole, right), confidence) <= max_loss;
  }
};

struct SampleChoice {
  double limit = 1.0;
  SampleOutcome outcome;
};
/// The lowest limit, on a grid of hundredths, for which it and all higher limits pass. Limits are
/// tested from the strictest on until one fails, which makes the choice as certain as a single
/// test. Empty if even the strictest fails.
std::optional<SampleChoice> choose_limit(const ExitAnswers& judged, SampleExit measure,
                                         int64_t last, const LossLimit& loss);

/// Thresholds of layer_windows worth trying: each skips about an eighth more of the work than the
/// previous one.
std::vector<double> window_thresholds(const Network& network, bool constant_input);

}  // namespace bntt
