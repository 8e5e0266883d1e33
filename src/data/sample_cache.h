#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "base/mapped_file.h"
#include "data/file_samples.h"

namespace bntt {

/// Where decoded samples of a split are kept, and what must be true of them.
struct CacheEntry {
  std::filesystem::path path;  ///< empty: nothing is kept
  uint64_t digest = 0;  ///< of the settings and of names, sizes and times of all source files
  uint64_t payload_bytes = 0;
};

CacheEntry cache_entry(const FileSplit& split, const CacheOptions& options);

/// The samples kept before; nothing where there are none or the file is stale or damaged.
std::optional<SharedBytes> open_cache(const CacheEntry& entry);

/// The payload of a whole, undamaged file for this digest and size.
std::optional<std::span<const uint8_t>> cache_payload(std::span<const uint8_t> file,
                                                      uint64_t digest, uint64_t payload_bytes);

/// A new file under a temporary name, which goes away unless it is finished.
class CacheWriter {
 public:
  CacheWriter(CacheEntry entry, std::filesystem::path temporary, std::unique_ptr<MappedFile> file);
  CacheWriter(CacheWriter&&) noexcept = default;
  CacheWriter& operator=(CacheWriter&&) = delete;
  ~CacheWriter();

  std::span<uint8_t> payload();
  /// Adds header and checksums and puts the file in place, all or nothing.
  std::optional<SharedBytes> finish();

 private:
  CacheEntry entry_;
  std::filesystem::path temporary_;
  std::unique_ptr<MappedFile> file_;
};

/// Makes room by removing the files that were not used for longest. Nothing where the directory
/// cannot be written, the disk has no room or the limit is too low.
std::optional<CacheWriter> begin_cache(const CacheEntry& entry, const CacheOptions& options);

}  // namespace bntt
