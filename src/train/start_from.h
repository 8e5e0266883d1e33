#pragma once

#include <string>
#include <vector>

#include "bntt/network.h"
#include "train/config.h"

namespace bntt {

/// What a network took from another one.
struct TakenNumbers {
  std::vector<std::string> drawn;    ///< tensors of the readout that stay as they were drawn
  std::vector<std::string> by_step;  ///< tensors whose steps were cut off or repeated
};

/// Starts a network with the weights, gains and running statistics of another, by their names. The
/// two may differ in
/// - the number of classes: the whole readout stays as it was drawn;
/// - the number of steps: step t takes what step min(t, last) has in the source, so that further
///   steps repeat the last one that was trained there, and missing ones are cut off.
/// What the source has beyond that (a shift where there is none now) is left. Throws Error,
/// beginning with `origin`, naming the first tensor that is missing or has another shape; then
/// nothing has changed.
TakenNumbers start_from(const Network& source, const std::string& origin, Network& network);

/// Writes the thresholds of the run in train.from into the settings. Throws Error when train.from
/// names no run or one without spikes, and for biases, which networks of [model] do not have.
void take_thresholds(RunConfig& config);

/// The network of a run (its best weights) or of a single checkpoint file.
Network load_start(const std::string& run_or_file);

}  // namespace bntt
