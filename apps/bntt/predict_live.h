#pragma once

#include <filesystem>
#include <optional>

#include "bntt/data/recording.h"
#include "bntt/model.h"

namespace bntt::cli {

struct LiveOptions {
  SensorSize sensor;                      ///< if unknown, that of the training or of the file
  int64_t steps = 0;                      ///< ends after this many; 0: all
  std::optional<double> exit_confidence;  ///< ends as soon as the answer is so certain
  std::optional<int> port;                ///< of the page; 0: any free one; absent: no page
};

/// Replays a recording at its own speed through a session: each step runs when its last event has
/// happened. Prints the decision, the spikes and the time of every step as they come, shows them on
/// a page if wanted, and says whether the network keeps up. Returns the exit code.
int predict_live(const Model& model, const std::filesystem::path& file, const LiveOptions& options);

}  // namespace bntt::cli
