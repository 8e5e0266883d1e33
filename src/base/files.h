#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bntt {

/// The whole file. Throws Error if it cannot be read or holds more than `limit` bytes.
std::vector<uint8_t> read_file(const std::filesystem::path& path, uint64_t limit);
std::string read_text(const std::filesystem::path& path, uint64_t limit = 16U << 20);

/// The ending of the names of temporary files; a process that was killed may leave one.
inline constexpr std::string_view kTemporaryEnding = ".tmp";

/// Writes through a temporary file beside `path`, fsync, rename: readers see the old file or the
/// complete new one, and a failure (full disk) leaves the old one and removes the temporary.
/// `before_rename` runs when the new file is completely on disk and the old one is still in place.
void write_file_atomically(const std::filesystem::path& path,
                           const std::vector<std::span<const uint8_t>>& parts,
                           const std::function<void()>& before_rename = {});
void write_text_atomically(const std::filesystem::path& path, std::string_view text);

/// Gives an existing file a second name, atomically replacing any file of that name.
void replace_with_link(const std::filesystem::path& existing, const std::filesystem::path& name);

/// A text file that grows line by line; every line is written to the kernel immediately.
class LineLog {
 public:
  /// Opens or creates `path`, truncated to its first `keep_bytes` bytes.
  LineLog(std::filesystem::path path, uint64_t keep_bytes);
  LineLog(const LineLog&) = delete;
  LineLog& operator=(const LineLog&) = delete;
  ~LineLog();

  void append(std::string_view line);
  void sync();
  uint64_t bytes() const { return bytes_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  uint64_t bytes_ = 0;
};

}  // namespace bntt
