#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "train/checkpoint.h"
#include "train/config.h"

namespace bntt {

/// One setting and the values that a sweep tries.
struct SweepAxis {
  std::string key;                  ///< e.g. train.learning_rate
  std::vector<std::string> values;  ///< in the form that --set takes
};

/// Parses "train.learning_rate=0.1,0.2,0.3". Commas within brackets and quotes belong to a value.
/// Throws Error for text without a key, without values or with a repeated value.
SweepAxis parse_sweep_axis(std::string_view text);

/// One run of a sweep.
struct SweepPoint {
  std::vector<std::string> values;  ///< one per axis
  std::string name;                 ///< of its directory: learning_rate=0.1_width=0.5
  RunConfig config;
};

/// Every combination of values; the last axis varies fastest. Throws Error for a repeated axis, for
/// invalid settings, and for values that would share a directory name.
std::vector<SweepPoint> sweep_points(const RunConfig& base, const std::vector<SweepAxis>& axes);

/// The results of a run so far, from its metrics.
struct RunSummary {
  int64_t epochs = 0;                         ///< done
  std::optional<double> validation_accuracy;  ///< of the best epoch
  std::optional<double> test_accuracy;
  std::optional<double> spikes_per_image;  ///< of the best epoch, or of the test without validation
};

RunSummary summarise_run(const RunPaths& paths);

/// Whether the run is complete: all epochs are done and the test is measured.
bool is_finished(const RunSummary& summary, const RunConfig& config);

/// One line of a sweep's table.
struct SweepRow {
  std::string run;
  std::vector<std::string> values;
  RunSummary summary;
  double seconds = 0.0;  ///< of training, in all sessions
  std::string state;     ///< finished, stopped, diverged, waiting
};

/// run,seconds,state,KEY...,epochs,validation_accuracy,test_accuracy,spikes_per_image
std::string sweep_csv(const std::vector<SweepAxis>& axes, const std::vector<SweepRow>& rows);

/// The seconds of a run in such a text; 0 if it is not listed.
double seconds_in_csv(std::string_view csv, std::string_view run);

}  // namespace bntt
