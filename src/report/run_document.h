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
  double exit_threshold = 0.1;  ///< the paper's example, shown until an analysis proposes another
};

/// What the run itself tells, without data and without running an image: settings, stages, learning
/// curves, γ. A run that has no checkpoint yet has no stages. Of a classical run all that there is.
Json run_outline(const std::filesystem::path& directory, const OutlineOptions& options = {});

/// What is measured.
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
  std::optional<std::string> data;  ///< directory of the data set; otherwise the run's
  int64_t images = 2000;            ///< of the test set, and as many for validation; 0: all
  int64_t attack_images = 500;      ///< of those, for robustness; 0: all
  AnalysisParts parts;
  /// What is being done, and how far; a true answer stops, and the document is then incomplete.
  std::function<bool(const std::string& what, int64_t done, int64_t of)> progress;
};

/// Adds to an outline what has to be measured on images: activity, exit, energy, robustness,
/// pictures. Without the data set it adds the reason under "missing"; a directory that was named
/// explicitly must be right, and throws. A classical run has no more to measure.
void add_analyses(Json& outline, const std::filesystem::path& directory,
                  const AnalysisOptions& options);

}  // namespace bntt
