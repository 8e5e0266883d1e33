#pragma once

#include <filesystem>
#include <utility>

#include "base/descriptor.h"

namespace bntt {

/// One process owns a run directory while it trains there. The kernel holds the lock, on the file
/// run.lock, so it ends with the process, however that ends; the file only says who holds it.
class RunLock {
 public:
  RunLock() = default;  ///< holds nothing
  /// Throws an Error that names the process if another one holds the directory, which must exist.
  /// Removes files that a killed owner left incomplete.
  explicit RunLock(const std::filesystem::path& directory);
  RunLock(RunLock&&) noexcept = default;
  RunLock& operator=(RunLock&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(file_, other.file_);
    return *this;
  }
  ~RunLock();

  bool held() const { return file_.get() >= 0; }

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace bntt
