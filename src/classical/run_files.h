#pragma once

#include <filesystem>

#include "classical/config.h"
#include "classical/methods.h"
#include "model/run_paths.h"

namespace bntt {

/// The files of a classical run.
struct ClassicalPaths {
  std::filesystem::path directory;
  std::filesystem::path settings() const { return RunPaths{directory}.classical(); }
  std::filesystem::path result() const { return directory / "result.json"; }
  std::filesystem::path times() const { return directory / "times.json"; }
  std::filesystem::path predictions() const { return directory / "predictions.csv"; }
};

/// Whether the directory holds a classical run, complete or not.
bool is_classical_run(const std::filesystem::path& directory);

/// Throws Error unless a classical run can be written there: the directory must be new, empty, or
/// hold nothing but logs. Creates the directory.
void expect_room_for_classical_run(const ClassicalPaths& paths);

/// The settings are written last: a directory that has them has all files.
void write_classical_run(const ClassicalPaths& paths, const ClassicalConfig& config,
                         const ClassicalStudy& study);

struct ClassicalRun {
  ClassicalConfig config;
  ClassicalResult result;
  ClassicalTimes times;
};
/// Throws an Error that names the file if it is missing or damaged.
ClassicalRun read_classical_run(const ClassicalPaths& paths);

}  // namespace bntt
