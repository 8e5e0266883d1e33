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
  std::filesystem::path file;  ///< or the folder that it is about
  std::string problem;         ///< completes "FILE ...": holds 17 bytes, expected 18
  bool operator==(const Finding&) const = default;
};

struct CheckReport {
  std::string dataset;
  int64_t files = 0;      ///< that were read
  uint64_t bytes = 0;     ///< of these files
  int64_t checksums = 0;  ///< files whose published checksum was compared
  int64_t train_samples = 0;
  int64_t test_samples = 0;
  bool stopped = false;
  std::vector<Finding> findings;  ///< in the order of the files; none: all is well
};

struct CheckOptions {
  SensorSize sensor;  ///< of event-folder; not known: each file says its own
  /// Files done, of how many; a true answer asks to stop.
  std::function<bool(int64_t done, int64_t all)> progress;
};

/// Reads every file of a data set and lists all that is wrong: missing files, sizes, counts,
/// labels, damaged samples, and checksums where they are known. Throws Error only for an unknown
/// data set, a directory that is none or a sensor that the data set does not take.
CheckReport check_dataset(std::string_view dataset, const std::filesystem::path& directory,
                          const CheckOptions& options = {});

}  // namespace bntt
