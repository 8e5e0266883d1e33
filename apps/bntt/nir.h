#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data_options.h"

namespace bntt::cli {

struct NirExportArguments {
  double dt = 1e-4;
  bool allow_lossy = false;
  std::string bntt = "refuse";      ///< or mean
  std::optional<std::string> data;  ///< to measure what the mean costs; default: the run's
  int64_t limit = 0;                ///< of test samples
  CacheArguments cache;
};

/// Writes the network of a run as a NIR file; throws Error and writes nothing where that would lose
/// something that the arguments do not allow.
int export_nir(const std::string& run, const std::string& file,
               const NirExportArguments& arguments);

struct NirImportArguments {
  std::optional<double> dt;
  std::optional<std::string> reset;  ///< hard or soft
  std::optional<int64_t> steps;
  std::vector<std::string> settings;
};

/// Makes a run of a NIR file.
int import_nir(const std::string& file, const std::string& out,
               const NirImportArguments& arguments);

}  // namespace bntt::cli
