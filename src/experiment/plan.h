#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "classical/config.h"
#include "experiment/experiment_file.h"
#include "train/config.h"

namespace bntt {

/// How an ANN is converted: see bntt convert.
struct ConversionSettings {
  std::string method;
  int64_t steps = 100;
  int64_t calibration_steps = 0;
  int64_t calibration_images = 512;
  std::optional<double> percentile;
  double threshold_scale = 1.0;
  std::vector<double> sweep;
};

/// A run at a scale, with a seed: all that is needed to make it.
struct PlannedRun {
  std::string name;  ///< in the experiment's file
  std::string label;
  RunKind kind = RunKind::train;
  int64_t seed = 1;
  RunConfig config;  ///< of a conversion: the ANN's; of a classical run: for its data
  std::optional<ConversionSettings> conversion;
  std::optional<ClassicalConfig> classical;
  std::optional<std::size_t> from;  ///< index of the run that it starts from
  std::string key;                  ///< 8 hexadecimal digits of all its settings
  std::string problem;              ///< why it cannot be made; empty: it can
  bool trained = false;             ///< false: only its settings are looked at
  /// Name of its directory: name-seed-key, readable and the same for the same settings.
  std::string place;

  /// Of a conversion or a classical run.
  const std::string& method() const { return conversion ? conversion->method : classical->method; }
};

struct PlanOptions {
  Scale scale = Scale::small;
  int64_t seeds = 1;
  std::string data;  ///< directory of the data sets; empty: where each usually is
};

/// The runs of some experiments. Equal settings make one run, whoever names it.
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

/// Throws Error for settings that are not valid.
Plan plan_runs(const std::vector<Experiment>& experiments, const PlanOptions& options);

/// The settings of a run at a scale, without seed and data directory. Throws Error where they are
/// not valid.
RunConfig settings_of_run(const Experiment& experiment, const std::string& run, Scale scale);

/// Where a data set lies: in the folder of its name in `root`, otherwise at its usual place, or
/// `root` itself, where that has no folders named after data sets. An empty path is the usual
/// place; absent: not found.
std::optional<std::filesystem::path> data_directory(const std::string& dataset,
                                                    const std::string& root);

}  // namespace bntt
