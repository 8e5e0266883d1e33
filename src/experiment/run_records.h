#pragma once

#include <filesystem>
#include <string>

#include "base/json.h"

namespace bntt {

/// What is known about the runs of a directory beyond the runs themselves: a JSON file, keyed by
/// the names of their directories.
class RunRecords {
 public:
  /// Throws Error for a file that holds something else.
  explicit RunRecords(std::filesystem::path file);

  bool diverged(const std::string& run) const;
  void set_diverged(const std::string& run);
  /// Adds multiply-adds and the seconds they took.
  void add(const std::string& run, double work, double seconds);
  /// Multiply-adds per second over everything timed here, or an initial guess.
  double speed() const;

 private:
  void write() const;

  std::filesystem::path file_;
  Json records_;
};

}  // namespace bntt
