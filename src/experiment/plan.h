#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "classical/config.h"
#include "convert/convert.h"
#include "experiment/experiment_file.h"
#include "train/config.h"

namespace bntt {

/// A run at a scale, with a seed: everything needed to make it.
struct PlannedRun {
  std::string name;  ///< in the experiment's file
  std::string label;
  RunKind kind = RunKind::train;
  int64_t seed = 1;
  RunConfig config;  ///< of a conversion: the ANN's; of a classical run: only for its data
  std::optional<ConversionOptions> conversion;  ///< without seed and progress
  std::optional<ClassicalConfig> classical;
  std::optional<std::size_t> from;  ///< index of the run that it starts from
  std::string key;                  ///< 8 hexadecimal digits, a hash of all its settings
  std::string problem;              ///< why it cannot be made; empty if it can
  bool trained = false;             ///< false: only its settings are used
  /// Name of its directory: name-seed-key, readable and the same for the same settings.
  std::string place;

  /// For a conversion or a classical run.
  const std::string& method() const { return conversion ? conversion->method : classical->method; }
};

struct PlanOptions {
  Scale scale = Scale::small;
  int64_t seeds = 1;
  std::string data;  ///< directory of the data sets; empty: the usual directory of each
};

/// The runs of some experiments. Equal settings make one run, even if several experiments use it.
struct Plan {
  PlanOptions options;
  std::vector<PlannedRun> runs;  ///< each after the one that it starts from

  /// The runs of one name in an experiment, one for each seed.
  std::vector<std::size_t> runs_of(const Experiment& experiment, const std::string& name) const;

 private:
  struct Entry {
    std::string experiment;
    std::string run;
    std::vector<std::size_t> by_seed;
  };
  std::vector<Entry> entries_;
  friend class Planner;
};

/// Throws Error for invalid settings.
Plan plan_runs(const std::vector<Experiment>& experiments, const PlanOptions& options);

/// The settings of a run at a scale, without seed and data directory. Throws Error if they are
/// invalid.
RunConfig settings_of_run(const Experiment& experiment, const std::string& run, Scale scale);

/// The directory of a data set: the folder of its name in `root`, otherwise its usual directory, or
/// `root` itself if that has no folders named after data sets. An empty path means the usual
/// directory; absent: not found.
std::optional<std::filesystem::path> data_directory(const std::string& dataset,
                                                    const std::string& root);

}  // namespace bntt
