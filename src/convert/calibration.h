#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bntt/batch.h"
#include "bntt/encoder.h"

namespace bntt {

/// The images used to find thresholds, and how they become the input of a network.
struct Calibration {
  std::vector<Batch> batches;
  EncoderSpec encoder;
  uint64_t seed = 1;
  double percentile = 100.0;
  /// Called after every batch of a stage with the task, the amount done and the total. Stops if it
  /// returns true.
  std::function<bool(const std::string& what, int64_t done, int64_t of)> progress;
};

}  // namespace bntt
