#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/file_samples.h"
#include "data/stored_samples.h"

namespace bntt {

/// One file of the cache: decoded samples that follow each other in a split, with a checksum each.
struct ShardForm {
  uint64_t digest = 0;  ///< of the settings and of names, sizes and times of all source files
  int64_t first = 0;    ///< sample of the split
  int64_t samples = 0;
  int64_t sample_bytes = 0;

  uint64_t payload_offset() const;
  uint64_t file_bytes() const;
};

/// Where the decoded samples of a split are stored, and what they must match.
struct CacheEntry {
  std::filesystem::path stem;  ///< of the names of all shards
  uint64_t digest = 0;
  int64_t samples = 0;
  int64_t sample_bytes = 0;
  int64_t samples_per_shard = 0;

  int64_t shards() const { return (samples + samples_per_shard - 1) / samples_per_shard; }
  ShardForm form(int64_t shard) const;
  std::filesystem::path path(int64_t shard) const;
};

/// options.directory must not be empty, nor the split.
CacheEntry cache_entry(const FileSplit& split, const CacheOptions& options);

/// The part of a shard before its samples. `crcs` has one CRC-32 per sample.
std::vector<uint8_t> shard_head(const ShardForm& form, std::span<const uint32_t> crcs);

/// The checksums of the samples. Throws an Error that begins with `origin` unless `head` is the
/// undamaged head of a shard of this form.
std::vector<uint32_t> parse_shard_head(std::span<const uint8_t> head, const ShardForm& form,
                                       const std::string& origin);

/// Throws an Error that names the file if it is missing, too short or too long, damaged in its head
/// or not of this form. Samples are not read.
SampleFile open_shard(const std::filesystem::path& path, const ShardForm& form);

/// A new shard under a temporary name, which is removed unless the shard is finished. Its space is
/// reserved on disk.
class ShardWriter {
 public:
  /// Empty if the file cannot be created or the disk is full.
  static std::optional<ShardWriter> create(const std::filesystem::path& path,
                                           const ShardForm& form);
  ShardWriter(ShardWriter&&) noexcept = default;
  ShardWriter& operator=(ShardWriter&&) = delete;
  ~ShardWriter();

  /// Samples that follow those written before; returns whether that succeeded.
  bool append(std::span<const uint8_t> samples);
  /// Adds the head and puts the file in place atomically; returns whether that succeeded.
  bool finish();

 private:
  ShardWriter(std::filesystem::path path, std::filesystem::path temporary, Descriptor file,
              const ShardForm& form);

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  Descriptor file_;
  ShardForm form_;
  std::vector<uint32_t> crcs_;
};

/// Held while shards of `entry` are made, so that processes that start together do not all decode
/// them: waits until no other process holds it. Without such locks (some network file systems) all
/// of them decode, and the last one's files, which are equal, remain.
Descriptor lock_shards(const CacheEntry& entry);

/// Makes room for `bytes` more of `entry` by removing the least recently used other sets; those
/// that remain may not exceed the limit together with this one. Returns whether the directory can
/// be written and its disk has the room.
bool make_room(const CacheEntry& entry, uint64_t bytes, const CacheOptions& options);

}  // namespace bntt
