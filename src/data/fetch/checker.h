#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bntt/error.h"
#include "fetch/check.h"

namespace bntt {

/// Collects the findings of a check. May be used by several threads.
class Checker {
 public:
  Checker(CheckReport& report, const CheckOptions& options) : report_(report), options_(options) {}

  const CheckOptions& options() const { return options_; }

  template <typename... Arguments>
  void find(const std::filesystem::path& file, fmt::format_string<Arguments...> format,
            Arguments&&... arguments) {
    add({file, fmt::format(format, std::forward<Arguments>(arguments)...)});
  }

  /// Adds the error that a loader reported for `file`.
  void find_error(const std::filesystem::path& file, const Error& error);

  void add_samples(bool train, int64_t samples) {
    const std::lock_guard lock(mutex_);
    (train ? report_.train_samples : report_.test_samples) += samples;
  }

  /// Runs `check` for each file on all threads, with the file's bytes. Files that cannot be read
  /// and those for which it throws Error become findings. `limit` bounds the size of a file.
  void each_file(
      const std::vector<std::filesystem::path>& files, uint64_t limit,
      const std::function<void(std::size_t file, std::span<const uint8_t> bytes)>& check);

  /// Compares the content with the published MD5.
  void compare(const std::filesystem::path& file, std::span<const uint8_t> content,
               const std::string& md5);

  /// Adds a finding for each class whose number of samples differs; `expected` 0: any number.
  void compare_classes(const std::filesystem::path& file, const std::vector<int64_t>& counts,
                       int64_t expected);

 private:
  void add(Finding finding);
  void count(uint64_t bytes);

  CheckReport& report_;
  const CheckOptions& options_;
  std::mutex mutex_;
};

}  // namespace bntt
