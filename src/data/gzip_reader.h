#pragma once

#include <zlib.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bntt {

bool is_gzip(std::span<const uint8_t> bytes);

/// Inflates one gzip stream held in memory, piece by piece, so that the caller decides how much it
/// accepts.
class GzipReader {
 public:
  /// `origin` starts every error sentence. The bytes must outlive the reader.
  GzipReader(std::span<const uint8_t> bytes, std::string origin);
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;
  ~GzipReader();

  /// The next `count` bytes, or fewer if the stream ends. Memory grows with the bytes actually
  /// inflated, whatever `count` is. Throws Error for a damaged or truncated stream, and for bytes
  /// after its end.
  std::vector<uint8_t> read(uint64_t count);

 private:
  std::size_t inflate_into(std::span<uint8_t> out);

  std::string origin_;
  z_stream stream_{};
  bool ended_ = false;
};

}  // namespace bntt
