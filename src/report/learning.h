#pragma once

#include "base/json.h"
#include "bntt/network.h"
#include "train/checkpoint.h"
#include "train/config.h"

namespace bntt {

/// The learning curves of a run from its metrics.jsonl: {steps, epochs, test, finished}; `seconds`
/// of an epoch, if the run has a times.jsonl, is when it ended. NaN becomes null. Has at most
/// `most_steps` step lines, evenly spaced.
Json learning_document(const RunPaths& paths, const RunConfig& config,
                       std::size_t most_steps = 600);

}  // namespace bntt
