#pragma once

#include <filesystem>

namespace bntt {

/// The files of a run: see "A run on disk" in docs/runs.md.
struct RunPaths {
  std::filesystem::path directory;
  std::filesystem::path settings() const { return directory / "run.toml"; }
  std::filesystem::path metrics() const { return directory / "metrics.jsonl"; }
  std::filesystem::path times() const { return directory / "times.jsonl"; }
  std::filesystem::path checkpoint() const { return directory / "checkpoint.safetensors"; }
  std::filesystem::path previous() const { return directory / "previous.safetensors"; }
  std::filesystem::path best() const { return directory / "best.safetensors"; }
  /// Settings of a run of a classical method. Such a run has none of the files above.
  std::filesystem::path classical() const { return directory / "classical.toml"; }
  std::filesystem::path lock() const { return directory / "run.lock"; }  ///< see RunLock
};

}  // namespace bntt
