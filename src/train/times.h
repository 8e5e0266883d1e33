#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "model/run_paths.h"

namespace bntt {

struct TimeSpent {
  double seconds = 0.0;            ///< on the wall clock
  double processor_seconds = 0.0;  ///< of all threads together
};

/// The time since some start.
using TrainClock = std::function<TimeSpent()>;

/// The time that this process has spent since this call.
TrainClock process_clock();

/// times.jsonl of a run: how long it took to reach each epoch and each checkpoint. It is a file of
/// its own since nothing in metrics.jsonl may depend on the machine.
class TimesLog {
 public:
  /// Removes what was logged after `step`, the position of the run, and goes on counting from
  /// there. If the file does not say how long the run took so far, as for runs of earlier versions,
  /// it is removed and nothing is logged: a curve with a wrong beginning is worse than none.
  TimesLog(const std::filesystem::path& file, int64_t step, TrainClock clock);

  void epoch_done(int64_t epoch, int64_t step) { add("epoch", epoch, step); }
  /// For a checkpoint in the middle of an epoch: from here the time can go on.
  void checkpoint_next(int64_t epoch, int64_t step);
  void sync();

 private:
  void add(const char* kind, int64_t epoch, int64_t step);

  TrainClock clock_;
  TimeSpent before_;  ///< in earlier sessions
  int64_t last_step_ = -1;
  std::optional<LineLog> log_;  ///< empty: nothing is logged
};

struct EpochTime {
  int64_t epoch = 0;  ///< counted from 1
  TimeSpent spent;    ///< from the start of the run to the end of this epoch, validation included
};

/// The epochs in times.jsonl; none if there is no such file. Throws Error for a damaged one.
std::vector<EpochTime> read_epoch_times(const RunPaths& paths);

}  // namespace bntt
