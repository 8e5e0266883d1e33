#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

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

}  // namespace bntt
