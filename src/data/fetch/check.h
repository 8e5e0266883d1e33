#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/sensor_size.h"

namespace bntt {

struct Finding {
  std::filesystem::path file;  ///< the file or folder concerned
  std::string problem;         ///< completes "FILE ...": holds 17 bytes, expected 18
  bool operator==(const Finding&) const = default;
};

struct CheckReport {
  std::string dataset;
  int64_t files = 0;      ///< files read
  uint64_t bytes = 0;     ///< in these files
  int64_t checksums = 0;  ///< files compared with a published checksum
  int64_t train_samples = 0;
  int64_t test_samples = 0;
  bool stopped = false;
  std::vector<Finding> findings;  ///< in the order of the files; empty if all is well
};

struct CheckOptions {
  SensorSize sensor;  ///< of event-folder; if unknown, each file gives its own
  /// Called with the files done and their total; the check stops if it returns true.
  std::function<bool(int64_t done, int64_t all)> progress;
};

/// Reads every file of a data set and lists everything that is wrong: missing files, sizes, counts,
/// labels, damaged samples, and checksums if known. Throws Error only for an unknown data set, a
/// path that is not a directory, or a sensor that the data set does not accept.
CheckReport check_dataset(std::string_view dataset, const std::filesystem::path& directory,
                          const CheckOptions& options = {});

}  // namespace bntt
