#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "analyse/run.h"
#include "command.h"
#include "data_options.h"
#include "interrupt.h"
#include "progress.h"

namespace bntt::cli {

/// Options common to all analyses.
struct AnalysisArguments {
  std::string run;
  std::optional<std::string> data;
  std::string weights = "best";
  int64_t limit = 0;
  std::optional<int64_t> seed;
  int threads = 0;
  bool json = false;
  CacheArguments cache;
};

void add_analysis_options(CLI::App& command, AnalysisArguments& arguments);

/// Sets the threads and reads the run.
OpenRun open_for_analysis(const AnalysisArguments& arguments, bool need_validation = false);

/// How the energy compares that an ANN needs `ratio` times: "3.98 times less than", "1.13 times
/// that of".
std::string energy_comparison(double ratio);

/// Before long work whose result goes into `file`: makes its folder, and throws Error where the
/// file could not be written.
void prepare_output(const std::filesystem::path& file);

/// The bar of an analysis that does one thing after another; silent for JSON, gone in the end.
class AnalysisProgress {
 public:
  explicit AnalysisProgress(bool silent);

  /// True when the user wants to stop.
  bool operator()(const std::string& what, int64_t images, int64_t of);

 private:
  bool silent_;
  Progress progress_;
  std::string what_;
  Rate rate_;
};

/// Ends an analysis: its numbers as JSON, or as `print` shows them; nothing when it was
/// interrupted.
template <typename Study, typename Print>
int finish_analysis(const Study& study, const AnalysisArguments& arguments, const Print& print) {
  if (interrupted()) return kInterrupted;
  if (arguments.json) {
    fmt::print("{}\n", to_json(study).dump(2));
  } else {
    print(study);
  }
  return kDone;
}

}  // namespace bntt::cli
