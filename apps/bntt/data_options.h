#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "data/dataset.h"
#include "progress.h"
#include "train/config.h"

namespace bntt::cli {

/// --cache, the same for every command that reads data.
struct CacheArguments {
  std::string directory;  ///< empty: the usual place; "none": no cache
};

void add_cache_option(CLI::App& command, CacheArguments& arguments);

/// --sensor-width and --sensor-height of the data commands, as the settings of a run.
void add_sensor_options(CLI::App& command, SensorSize& sensor);

/// Empty: no cache.
std::filesystem::path cache_directory(const CacheArguments& arguments);

/// The run's data set in the form that the run wants, decoded with a bar on the screen (null:
/// silently).
DatasetSplits open_run_data(const RunConfig& config, const std::string& directory,
                            DatasetOptions options, const CacheArguments& cache,
                            Progress* progress);

}  // namespace bntt::cli
