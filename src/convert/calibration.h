#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bntt/batch.h"
#include "bntt/encoder.h"
#include "data/dataset.h"
#include "data/split.h"

namespace bntt {

/// The images used to find thresholds or scales, and how they become the input of a network.
struct Calibration {
  std::vector<Batch> batches;
  EncoderSpec encoder;
  uint64_t seed = 1;
  double percentile = 100.0;
  /// Called after every batch of a stage with the task, the amount done and the total. Stops if it
  /// returns true.
  std::function<bool(const std::string& what, int64_t done, int64_t of)> progress;
};

/// The first `count` samples of a training that changes none, in batches of `together`. Throws
/// Error unless there are so many.
std::vector<Batch> calibration_batches(const ImageSet& images, SampleRange train, int64_t count,
                                       uint64_t seed, int64_t together);

}  // namespace bntt
