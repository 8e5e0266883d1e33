#pragma once

#include "train/checkpoint.h"
#include "train/config.h"

namespace bntt {

/// Reads run.toml. Throws Error when the directory holds no run.
RunConfig read_run_settings(const RunPaths& paths);

/// Makes the directory and writes run.toml. Without `may_exist`, a directory that already holds a
/// run is refused.
void begin_run_directory(const RunPaths& paths, const RunConfig& config, bool may_exist);

/// Throws Error, naming the first setting that differs, unless a resumed run has the settings it
/// was begun with. The place of the data may differ, and break-even densities need not be named.
void expect_same_settings(const RunPaths& paths, const RunConfig& begun, RunConfig wanted);

}  // namespace bntt
