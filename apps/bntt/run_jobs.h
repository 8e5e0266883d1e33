#pragma once

#include <memory>
#include <string>
#include <vector>

#include "progress.h"
#include "run_process.h"

namespace bntt::cli {

/// A run that is being made, or was.
struct RunJob {
  std::size_t run = 0;  ///< its number in the plan
  std::string label;
  double work = 0.0;   ///< multiply-adds
  double share = 1.0;  ///< of the machine's threads
  Rate rate;
};

/// Runs that are made at the same time, each in a process of its own.
class RunJobs {
 public:
  bool empty() const { return jobs_.empty(); }
  int64_t count() const { return std::ssize(jobs_); }

  void start(RunJob job, const std::vector<std::string>& arguments);
  /// Asks all of them to stop with a checkpoint.
  void ask_to_stop() const;

  struct Ended {
    RunJob job;
    RunEnd end;
  };
  /// Waits until one of them says something, at most a fifth of a second; returns those that have
  /// ended.
  std::vector<Ended> wait();
  /// One line about all of them.
  std::string status() const;

 private:
  struct Running {
    RunJob job;
    std::unique_ptr<RunProcess> process;
  };
  std::vector<Running> jobs_;
};

}  // namespace bntt::cli
