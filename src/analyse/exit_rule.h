#pragma once

#include <optional>
#include <vector>

#include "bntt/network.h"

namespace bntt {

/// γ averaged over the channels: [stage][step of the run]; the largest of several branches. A stage
/// without γ per step has no rows.
struct GainMeans {
  std::vector<std::vector<double>> signed_mean;  ///< ḡ, as in the paper
  std::vector<std::vector<double>> magnitude;    ///< mean |γ|; no rows unless every branch has γ
};
GainMeans gain_means(const Network& network);

/// Whether any stage has a γ for every step; otherwise γ cannot tell when to stop.
bool has_step_gains(const Network& network);

/// T_exit: the earliest step after which every step of every stage has ḡ < threshold; steps that
/// cannot reach the readout are ignored. At least the first step that reaches it, at most all.
int64_t exit_step(const Network& network, double threshold);

/// The thresholds with one T_exit: above < threshold <= up_to.
struct ExitInterval {
  int64_t exit_step = 0;
  std::optional<double> above;  ///< absent: includes every lower threshold
  std::optional<double> up_to;  ///< absent: includes every higher threshold
  double threshold = 0.0;       ///< the roundest number in the interval
};
/// The number with the fewest decimals in (above, up_to].
double roundest_threshold(const std::optional<double>& above, const std::optional<double>& up_to);
/// Every T_exit that some threshold gives, in order of rising threshold.
std::vector<ExitInterval> exit_intervals(const Network& network);

/// Steps at which a stage's mean |γ| reaches the threshold; at other steps its synapse is skipped.
/// Stages without γ per step, including the readout, are always active.
StepWindows layer_windows(const Network& network, double threshold);

}  // namespace bntt
