#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "data/shared_bytes.h"

namespace bntt {

/// Samples of equal size that follow each other in one file.
struct SampleFile {
  std::string path;  ///< for messages
  Descriptor file;
  uint64_t offset = 0;  ///< of the first sample, in bytes
  int64_t samples = 0;
  int64_t sample_bytes = 0;
  std::vector<uint32_t> crcs;  ///< [sample]; empty: not checked

  uint64_t offset_of(int64_t sample) const {
    return offset + static_cast<uint64_t>(sample * sample_bytes);
  }
  /// Writes the bytes of a sample to `out`. Throws an Error that names the file if it has become
  /// shorter, cannot be read, or holds something else than when it was written.
  void read(int64_t sample, uint8_t* out) const;
};

/// Samples that stay in their files and are read one at a time, so that memory does not grow with
/// them (docs/decisions/0022). Safe to use from several threads.
class StoredSamples {
 public:
  /// At least one file; all have samples of the same size.
  explicit StoredSamples(std::vector<SampleFile> files);

  int64_t size() const { return first_.back(); }

  /// As SampleFile::read; the sentence about a file with checksums, which is one of the cache, says
  /// what to do about it.
  void read(int64_t sample, uint8_t* out) const;

  /// The kernel begins to read these samples in the background, all at the same time: on a slow
  /// disk, reads that follow do not wait for each other.
  void begin_reading(std::span<const int64_t> samples) const;

  /// All samples as one range of memory, whose pages are read from the files as they are touched.
  /// Empty if that is impossible, as with several files whose samples do not begin and end on pages
  /// of memory. Contents are not checked.
  std::optional<SharedBytes> mapped() const;

 private:
  struct Place {
    const SampleFile& file;
    int64_t index;  // of the sample in the file
  };
  Place place_of(int64_t sample) const;

  std::vector<SampleFile> files_;
  std::vector<int64_t> first_;  // sample of each file; behind the last one, their number
};

/// Reads exactly `size` bytes at `offset`. Throws an Error that begins with `path`.
void read_at(const Descriptor& file, const std::string& path, uint64_t offset, uint8_t* out,
             std::size_t size);

}  // namespace bntt
