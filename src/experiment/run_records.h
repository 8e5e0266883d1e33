#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/json.h"
#include "experiment/work.h"

namespace bntt {

/// What is known about the runs of a directory beyond the runs themselves: a JSON file, keyed by
/// the names of their directories.
class RunRecords {
 public:
  /// Throws Error for a file that holds something else.
  explicit RunRecords(std::filesystem::path file);

  bool diverged(const std::string& run) const;
  void set_diverged(const std::string& run);
  /// Adds multiply-adds of a kind and the seconds they took.
  void add(const std::string& run, WorkKind kind, double work, double seconds);
  /// Multiply-adds per second over everything of this kind timed here. If there is none yet: an
  /// initial guess, scaled by how the other kinds differ from theirs.
  double speed(WorkKind kind) const;

 private:
  struct Timed {
    double work = 0.0;
    double seconds = 0.0;
    double guessed_seconds = 0.0;
  };
  Timed timed(std::optional<WorkKind> kind) const;
  void write() const;

  std::filesystem::path file_;
  Json records_;
};

}  // namespace bntt
