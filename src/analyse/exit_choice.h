#pragma once

#include <optional>
#include <vector>

#include "analyse/inference.h"

namespace bntt {

/// Dense-equivalent multiply-adds of one image up to each step: [step − first exit]. A constant
/// input is worked on once.
std::vector<double> work_until(const Network& network, const StepWindows& windows,
                               bool constant_input);

/// Images of which each would be answered at some step, known without running them again.
struct Judged {
  const Trajectory& trajectory;
  const std::vector<int64_t>& labels;
  const std::vector<double>& work;  ///< work_until

  int64_t images() const { return static_cast<int64_t>(labels.size()); }
};

/// Accuracy (%) if every image stops after `step` steps of the run.
double accuracy_at(const Judged& judged, int64_t step);

struct SampleOutcome {
  double accuracy = 0.0;
  double mean_steps = 0.0;
  double mean_work = 0.0;
};
/// If each image stops as soon as its measure reaches the limit, at the latest after `last` steps.
SampleOutcome outcome_of(const Judged& judged, SampleExit measure, double limit, int64_t last);

struct SampleChoice {
  double limit = 1.0;
  SampleOutcome outcome;
};
/// The limit, of a grid of hundredths, that needs the least work and keeps the accuracy; none where
/// even the strictest limit loses too much.
std::optional<SampleChoice> choose_limit(const Judged& judged, SampleExit measure, int64_t last,
                                         double least_accuracy);

/// Thresholds of layer_windows worth trying: each skips about an eighth more of the work than the
/// one before.
std::vector<double> window_thresholds(const Network& network, bool constant_input);

}  // namespace bntt
