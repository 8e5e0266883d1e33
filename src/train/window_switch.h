#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bntt/optimizer.h"
#include "train/config.h"

namespace bntt {

/// What switching steps off at the end of an epoch did.
struct WindowSwitch {
  double threshold = 0.0;  ///< h: rows of γ with a smaller mean |γ| went off
  int64_t switched = 0;    ///< steps of branches that went off
  double work = 1.0;       ///< share of the synapse work that is left
};

/// Whether the settings ask for learned windows.
bool learns_windows(const TrainConfig& train);

/// Throws Error for settings of learned windows that contradict each other, or that the network
/// cannot follow.
void expect_window_settings(const TrainConfig& train, const Network& network, bool constant_input);

/// The epochs, counted from 1, at whose end steps are switched off.
std::vector<int64_t> switching_epochs(const TrainConfig& train);

/// Switches steps off at the end of an epoch, if it is one of those: rows of γ and what the
/// optimiser remembers of them become 0. A branch keeps the step with its largest mean |γ|.
std::optional<WindowSwitch> switch_steps_off(const TrainConfig& train, int64_t epoch,
                                             bool constant_input, Network& network,
                                             Optimizer& optimizer);

}  // namespace bntt
