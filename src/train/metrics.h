#pragma once

#include <vector>

#include "base/json.h"
#include "train/checkpoint.h"

namespace bntt {

/// The lines of metrics.jsonl with this "kind": step, epoch or test.
std::vector<Json> read_metrics(const RunPaths& paths, const std::string& kind);

}  // namespace bntt
