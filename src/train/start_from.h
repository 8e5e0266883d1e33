#pragma once

#include <string>
#include <vector>

#include "bntt/network.h"
#include "train/config.h"

namespace bntt {

/// What a network took from another one.
struct TakenNumbers {
  std::vector<std::string> drawn;    ///< tensors of the readout that keep their random values
  std::vector<std::string> by_step;  ///< tensors whose steps were cut off or repeated
};

/// Starts a network with the weights, gains and running statistics of another, matched by name. The
/// two may differ in
/// - the number of classes: the whole readout keeps its random values;
/// - the number of steps: step t takes the numbers of step min(t, last) of the source, so that
///   additional steps repeat the last one that was trained there, and surplus ones are cut off.
/// Other tensors of the source (a shift where there is none now) are ignored. Throws an Error that
/// begins with `origin` and names the first tensor that is missing or has a different shape;
/// nothing has changed then.
TakenNumbers start_from(const Network& source, const std::string& origin, Network& network);

/// Writes the thresholds of the run in train.from into the settings. Throws Error if train.from
/// names no run or one without spikes, and for biases, which networks of [model] do not have.
void take_thresholds(RunConfig& config);

/// The network of a run (its best weights) or of a single checkpoint file.
Network load_start(const std::string& run_or_file);

}  // namespace bntt
