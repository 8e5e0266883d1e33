#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/json.h"
#include "train/checkpoint.h"

namespace bntt {

struct OutlineOptions {
  RunWeights weights = RunWeights::best;
  double exit_threshold = 0.1;  ///< the paper's example, used until an analysis proposes another
};

/// What is known from the run itself, without data and without running an image: settings, stages,
/// learning curves, γ. A run without a checkpoint has no stages yet. For a classical run,
/// everything there is.
Json run_outline(const std::filesystem::path& directory, const OutlineOptions& options = {});

/// The analyses to run.
struct AnalysisParts {
  bool energy = true;
  bool activity = true;
  bool exit = true;
  bool pictures = true;
  bool robustness = true;

  static constexpr AnalysisParts none() { return {false, false, false, false, false}; }
  bool operator==(const AnalysisParts&) const = default;
};

struct AnalysisOptions {
  std::optional<std::string> data;  ///< directory of the data set; default: that of the run
  int64_t images = 2000;            ///< of the test set, and as many for validation; 0: all
  int64_t attack_images = 500;      ///< of those, for robustness; 0: all
  AnalysisParts parts;
  /// Reports the current task and its progress. If it returns true, stops; the document is then
  /// incomplete.
  std::function<bool(const std::string& what, int64_t done, int64_t of)> progress;
};

/// Adds to an outline what has to be measured on images: activity, exit, energy, robustness,
/// pictures. If the data set is missing, adds the reason under "missing"; throws if the directory
/// was given explicitly. A classical run has nothing more to measure.
void add_analyses(Json& outline, const std::filesystem::path& directory,
                  const AnalysisOptions& options);

}  // namespace bntt
