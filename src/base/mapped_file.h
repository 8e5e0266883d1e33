#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace bntt {

/// A file mapped into memory.
class MappedFile {
 public:
  /// Read-only; null if the file cannot be opened or is empty.
  static std::unique_ptr<MappedFile> open(const std::filesystem::path& path);

  /// A new file of `size` bytes whose space is reserved on disk, so that writing to it cannot fail;
  /// null if that is impossible or the file already exists.
  static std::unique_ptr<MappedFile> create(const std::filesystem::path& path, uint64_t size);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const uint8_t> bytes() const { return bytes_; }
  std::span<uint8_t> writable() { return bytes_; }

  /// Writes all bytes to disk; returns whether that succeeded.
  bool sync() const;

 private:
  explicit MappedFile(std::span<uint8_t> bytes) : bytes_(bytes) {}

  std::span<uint8_t> bytes_;
};

}  // namespace bntt
