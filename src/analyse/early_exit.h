#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyse/energy.h"
#include "analyse/exit_rule.h"
#include "analyse/inference.h"
#include "analyse/loss_bound.h"

namespace bntt {

/// One T_exit of the paper's rule (Fig. 6).
struct ExitPoint {
  int64_t exit_step = 0;
  double threshold = 0.0;  ///< a round number that gives this T_exit
  /// Every threshold in (above, up_to] gives this T_exit; absent: no limit on that side.
  std::optional<double> threshold_above;
  std::optional<double> threshold_up_to;
  std::optional<double> validation_accuracy;
  std::optional<double> validation_loss;        ///< points, compared with all steps
  std::optional<double> validation_loss_bound;  ///< one-sided, ExitStudy::bound_confidence
  double accuracy = 0.0;                        ///< %, test
  double spikes_per_image = 0.0;
  double synapse_work = 0.0;  ///< dense-equivalent, as a fraction of a run of all steps
  double energy_pj = 0.0;     ///< per image, measured form
  double ms_per_image = 0.0;  ///< measured by running to T_exit, on ExitStudy::timed_images
};

/// One threshold of the per-layer windows, on the validation images.
struct WindowPoint {
  double threshold = 0.0;
  double synapse_work = 0.0;
  double validation_accuracy = 0.0;
};

/// A way to stop early: its settings are chosen on the validation images, and it is run on the test
/// images.
struct ExitMethod {
  std::string name;  ///< all-steps, gamma, confidence, margin, windows, gamma+confidence, combined
  int64_t exit_step = 0;                   ///< the most steps that an image takes
  std::optional<double> gamma_threshold;   ///< of the paper's rule
  std::optional<double> window_threshold;  ///< of the per-layer windows
  std::optional<double> sample_limit;      ///< of confidence or margin
  SampleExit sample_exit = SampleExit::none;
  std::optional<double> validation_accuracy;
  std::optional<double> validation_loss;
  std::optional<double> validation_loss_bound;  ///< allows for the choice among all that were tried
  double accuracy = 0.0;
  double mean_steps = 0.0;
  double synapse_work = 0.0;
  double accumulates_per_image = 0.0;
  double spikes_per_image = 0.0;
  double energy_pj = 0.0;
  double ms_per_image = 0.0;
  double images_per_second = 0.0;
};

struct StageWindow {
  std::string name;
  std::vector<bool> active;  ///< [step of the run]; false for steps that cannot reach the readout
};

struct ExitStudy {
  int64_t steps = 0;
  int64_t first_exit = 1;  ///< the first step at which anything has reached the readout
  int64_t images = 0;
  int64_t validation_images = 0;
  int64_t timed_images = 0;  ///< used for the times, each the shortest of three runs
  double max_loss = 0.0;     ///< points of accuracy that a proposal may cost
  double bound_confidence = kBoundConfidence;
  std::vector<ExitPoint> sweep;  ///< by rising threshold; empty without γ per step
  /// Index into sweep of a row that stops early. Its bound and those of all rows before it are
  /// within max_loss. Absent if there is no such row.
  std::optional<int64_t> proposed;
  /// If nothing is proposed: roughly the number of validation images that the row that stops last
  /// would need. Absent if no number suffices because its loss is too large.
  std::optional<int64_t> validation_images_needed;
  std::vector<WindowPoint> window_sweep;  ///< by rising threshold
  std::vector<StageWindow> windows;       ///< of the proposed window threshold
  std::vector<ExitMethod> methods;        ///< the first is all-steps
};

struct ExitOptions {
  double max_loss = 0.3;  ///< points; upper limit for the bound of a proposal's loss
  EnergyTable table = default_energy_table();
  int64_t timed_images = 1000;
  /// Reports the current task and its progress. If it returns true, the study stops incomplete.
  std::function<bool(const std::string& what, int64_t images, int64_t of)> progress;
};

/// If `validation` is an empty range, nothing is proposed. Throws Error for an ANN.
ExitStudy study_exit(const Network& network, const Sample& test, const Sample& validation,
                     const ExitOptions& options = {});

}  // namespace bntt
