#pragma once

#include "train/checkpoint.h"
#include "train/config.h"

namespace bntt {

/// Reads run.toml. Throws Error if the directory holds no run.
RunConfig read_run_settings(const RunPaths& paths);

/// Throws Error if no run can begin in the directory because it holds files that do not belong to a
/// run (hidden files, *.log and *.txt are allowed), or because it holds a run, unless `may_exist`.
void expect_room_for_run(const RunPaths& paths, bool may_exist);

/// Creates the directory if a run can begin there, and writes run.toml.
void begin_run_directory(const RunPaths& paths, const RunConfig& config, bool may_exist);

/// The settings that a run keeps from its first step to its last, as TOML: all except the location
/// of the data and the number of epochs. Checkpoints contain them.
std::string lasting_settings(const RunConfig& config);

/// Throws an Error that names the first difference if run.toml no longer matches the lasting
/// settings stored in the checkpoint. Does nothing if one of the two is missing.
void expect_unedited_settings(const RunPaths& paths, const std::string& of_checkpoint);

/// Writes a new number of epochs to run.toml, if it exists.
void change_epochs(const RunPaths& paths, int64_t epochs);

/// Throws Error if run.toml describes a different network from the one that was trained: analyses
/// would use one and report the other.
void expect_network_of(const RunPaths& paths, const RunConfig& config, const NetworkSpec& trained);

/// Throws an Error that names the first setting that differs unless a resumed run has the settings
/// it was begun with. The location of the data may differ, and break-even densities need not be
/// given.
void expect_same_settings(const RunPaths& paths, const RunConfig& begun, RunConfig wanted);

/// The settings with which a run continues: `wanted`, completed with what the run has measured.
/// Throws Error unless they are those that it was begun with; only the number of epochs may have
/// changed, if `may_change_epochs`.
RunConfig resumed_settings(const RunPaths& paths, const RunConfig& begun, const RunConfig& wanted,
                           bool may_change_epochs);

}  // namespace bntt
