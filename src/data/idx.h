#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/stored_samples.h"

namespace bntt {

/// An IDX file of unsigned bytes, the format of MNIST and its relatives.
struct IdxArray {
  std::vector<int64_t> extents;  ///< the slowest axis first
  std::vector<uint8_t> values;
};

/// Parses a whole file, plain or gzip, with `rank` axes. `origin` starts every error sentence.
/// Memory is bounded by the bytes actually present, whatever the header announces.
IdxArray parse_idx(std::span<const uint8_t> bytes, int rank, const std::string& origin);

/// Reads `path`, or `path`.gz if only that exists.
IdxArray read_idx(const std::filesystem::path& path, int rank, const std::string& dataset);

/// Images of equal size, [image, y, x], in memory or in their file.
struct IdxImages {
  int64_t count = 0;
  int64_t height = 0;
  int64_t width = 0;
  std::vector<uint8_t> values;                  ///< empty if the images stay in their file
  std::shared_ptr<const StoredSamples> stored;  ///< null if they are in `values`
};

/// The same for a file of images. A plain file of more than `held_bytes` is not read into memory.
IdxImages read_idx_images(const std::filesystem::path& path, const std::string& dataset,
                          uint64_t held_bytes = uint64_t{1} << 28);

}  // namespace bntt
