#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "data_options.h"
#include "progress.h"
#include "train/config.h"
#include "train/run_lock.h"
#include "train/run_trainer.h"

namespace bntt::cli {

/// How the command line describes the settings of a run.
struct SettingsArguments {
  std::string preset;
  std::string config;
  std::optional<std::string> data;
  std::vector<std::string> settings;
  std::optional<int64_t> epochs;
  std::optional<std::string> precision;
  std::optional<int64_t> limit_train;
  std::optional<int64_t> limit_test;
  std::optional<int64_t> seed;
};

void add_settings_options(CLI::App& command, SettingsArguments& arguments);

/// The settings that the command line describes, based on those of the run begun; nothing when it
/// names neither preset nor file and no run is begun.
std::optional<RunConfig> described_settings(const SettingsArguments& arguments,
                                            const std::optional<RunConfig>& begun);

struct TrainingOptions {
  bool resume = false;
  double max_minutes = 0.0;  ///< stop when the clock shows so long, and test; 0: never
  TrainClock clock;          ///< since the start of the command; empty: since run_training
  CacheArguments cache;
  std::string label;   ///< before what the bar shows
  bool quiet = false;  ///< no lines of its own, only the bar
};

struct TrainingResult {
  TrainEnd end = TrainEnd::finished;
  int64_t step = 0;
  double seconds = 0.0;
  int64_t best_epoch = 0;          ///< whose weights were tested, counted from 1; 0: the last ones
  std::optional<Evaluation> test;  ///< with test images: of a finished run, or one out of time
};

/// Reads the data, trains until the end, Ctrl-C or the time limit, and tests. Throws Error, with an
/// estimate of what is needed, when memory runs out.
TrainingResult run_training(RunConfig config, const RunPaths& paths, RunLock lock,
                            const TrainingOptions& options, Progress& progress);

}  // namespace bntt::cli
