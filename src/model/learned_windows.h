#pragma once

#include <string>

#include "base/json.h"
#include "bntt/network.h"

namespace bntt {

/// Every step of every branch.
LearnedWindows all_steps(const Network& network);
/// The network's windows, written out where it has none.
LearnedWindows windows_of(const Network& network);

/// Share of the dense multiply-adds of all branches and steps that the windows leave. An input that
/// is the same at every step is counted once.
double work_left(const Network& network, const LearnedWindows& windows, bool constant_input);

/// "##..": at # the branch works, at . it is switched off or cannot reach the readout.
std::string window_text(const StagePlan& plan, const std::vector<bool>& active);

/// {"conv1": "####....", ...}: the branches that have steps off.
Json windows_json(const Network& network);
/// Throws Error, beginning with `origin`, for windows that are not of this network.
LearnedWindows windows_from_json(const Json& json, const Network& network,
                                 const std::string& origin);

}  // namespace bntt
