#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "base/descriptor.h"

namespace bntt {

/// Identifies the file on the server, to check that our part still belongs to it.
struct PartOrigin {
  std::string url;
  std::string validator;  ///< a strong ETag or the Last-Modified date; empty: the server gave none
  bool operator==(const PartOrigin&) const = default;
};

/// `path`.part, an incomplete download, and `path`.part.json, which records its origin.
class PartFile {
 public:
  /// Opens or creates it. Throws Error if that is impossible, also for a symbolic link.
  explicit PartFile(const std::filesystem::path& path);

  uint64_t size() const { return size_; }
  const std::filesystem::path& path() const { return part_; }
  const PartOrigin& origin() const { return origin_; }

  /// Discards all bytes; the next ones come from `origin`.
  void restart(const PartOrigin& origin);
  void append(std::span<const uint8_t> bytes);
  /// Renames it to its final name, after writing it to disk.
  void complete();
  void remove();

 private:
  std::filesystem::path final_;
  std::filesystem::path part_;
  std::filesystem::path note_;
  Descriptor file_;
  uint64_t size_ = 0;
  PartOrigin origin_;
};

}  // namespace bntt
