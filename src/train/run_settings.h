#pragma once

#include "train/checkpoint.h"
#include "train/config.h"

namespace bntt {

/// Reads run.toml. Throws Error when the directory holds no run.
RunConfig read_run_settings(const RunPaths& paths);

/// Throws Error where no run can begin: in a directory that holds files which are not a run's
/// (hidden files and *.log and *.txt are let pass), or that holds a run, unless `may_exist`.
void expect_room_for_run(const RunPaths& paths, bool may_exist);

/// Makes the directory, if there is room for a run, and writes run.toml.
void begin_run_directory(const RunPaths& paths, const RunConfig& config, bool may_exist);

/// The settings that a run keeps from its first step to its last, as TOML: all but the place of the
/// data and the number of epochs. Checkpoints carry them.
std::string lasting_settings(const RunConfig& config);

/// Throws Error, naming the first difference, when run.toml is no longer what the checkpoint, with
/// these lasting settings, was made with. Nothing is compared where one of the two is not there.
void expect_unedited_settings(const RunPaths& paths, const std::string& of_checkpoint);

/// Writes another number of epochs into run.toml, where there is one.
void change_epochs(const RunPaths& paths, int64_t epochs);

/// Throws Error when run.toml describes another network than the one that was trained: analyses
/// would use the one and report the other.
void expect_network_of(const RunPaths& paths, const RunConfig& config, const NetworkSpec& trained);

/// Throws Error, naming the first setting that differs, unless a resumed run has the settings it
/// was begun with. The place of the data may differ, and break-even densities need not be named.
void expect_same_settings(const RunPaths& paths, const RunConfig& begun, RunConfig wanted);

}  // namespace bntt
