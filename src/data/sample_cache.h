#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "base/mapped_file.h"
#include "data/file_samples.h"

namespace bntt {

/// Where the decoded samples of a split are stored, and what they must match.
struct CacheEntry {
  std::filesystem::path path;  ///< empty: no cache
  uint64_t digest = 0;  ///< of the settings and of names, sizes and times of all source files
  uint64_t payload_bytes = 0;
};

CacheEntry cache_entry(const FileSplit& split, const CacheOptions& options);

/// The samples stored earlier; empty if there are none or the file is stale or damaged.
std::optional<SharedBytes> open_cache(const CacheEntry& entry);

/// The payload of a complete, undamaged file with this digest and size.
std::optional<std::span<const uint8_t>> cache_payload(std::span<const uint8_t> file,
                                                      uint64_t digest, uint64_t payload_bytes);

/// A new file under a temporary name, which is removed unless it is finished.
class CacheWriter {
 public:
  CacheWriter(CacheEntry entry, std::filesystem::path temporary, std::unique_ptr<MappedFile> file);
  CacheWriter(CacheWriter&&) noexcept = default;
  CacheWriter& operator=(CacheWriter&&) = delete;
  ~CacheWriter();

  std::span<uint8_t> payload();
  /// Adds header and checksums and puts the file in place atomically.
  std::optional<SharedBytes> finish();

 private:
  CacheEntry entry_;
  std::filesystem::path temporary_;
  std::unique_ptr<MappedFile> file_;
};

/// Makes room by removing the least recently used files. Empty if the directory cannot be written,
/// the disk is full or the limit is too low.
std::optional<CacheWriter> begin_cache(const CacheEntry& entry, const CacheOptions& options);

}  // namespace bntt
