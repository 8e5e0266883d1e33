#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "bench/workload.h"

namespace bntt::bench {

/// How much of inference is done.
enum class Rule {
  all_steps,    ///< everything
  at_rest,      ///< encoder and neurons alone: no synapse works
  windows,      ///< each stage's synapses work at a share of the steps
  sample_exit,  ///< images leave when they are confident, after a share of the steps on average
};

constexpr auto enum_names(Rule) {
  return std::array{std::pair{Rule::all_steps, "all-steps"}, std::pair{Rule::at_rest, "at-rest"},
                    std::pair{Rule::windows, "windows"},
                    std::pair{Rule::sample_exit, "sample-exit"}};
}

/// Windows of `share` of each stage's steps, in one piece, that move from the first steps of the
/// first stage to the last steps of the last hidden one, as those of trained networks do. Readouts
/// always work.
StepWindows band_windows(const Network& network, double share);
StepWindows closed_windows(const Network& network);

/// The share of its synapses' work that each stage does. The synapse of a constant input works
/// once, whatever the steps.
std::vector<double> working_shares(const Workload& workload, const StepWindows& windows);

/// The confidence at which these images leave after `share` of the steps on average, or after
/// somewhat less.
double exit_limit(const Workload& workload, const Batch& images, double share);

}  // namespace bntt::bench
