#pragma once

#include <span>

#include "analyse/run.h"
#include "base/json.h"

namespace bntt {

/// The network's answer to each image of a sample.
struct Answers {
  std::span<const int64_t> predictions;
  std::span<const float> confidence;  ///< of the prediction, 0..1
};

struct ConfusionOptions {
  std::size_t pairs = 8;
  std::size_t examples = 4;  ///< pictures per pair, the most confident mistakes first
};

/// {classes, matrix: [truth][predicted], confusions: [{truth, predicted, count, share, examples:
/// [{image, confidence}]}]}, the most frequent pairs first.
Json confusions_document(const Sample& sample, const Answers& answers,
                         const ConfusionOptions& options = {});

}  // namespace bntt
