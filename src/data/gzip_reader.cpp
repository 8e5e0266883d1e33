#include "data/gzip_reader.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "base/fail.h"

namespace bntt {

bool is_gzip(std::span<const uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

GzipReader::GzipReader(std::span<const uint8_t> bytes, std::string origin)
    : origin_(std::move(origin)) {
  if (bytes.size() > std::numeric_limits<uInt>::max()) {
    fail("{} holds {} bytes, expected less than 4 GiB", origin_, bytes.size());
  }
  // zlib never writes through next_in.
  stream_.next_in = const_cast<Bytef*>(bytes.data());
  stream_.avail_in = static_cast<uInt>(bytes.size());
  constexpr int kGzipOnly = 16;
  if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
}

GzipReader::~GzipReader() { inflateEnd(&stream_); }

std::vector<uint8_t> GzipReader::read(uint64_t count) {
  constexpr uint64_t kFirstPiece = 64U << 10;
  std::vector<uint8_t> bytes;
  while (bytes.size() < count && !ended_) {
    const std::size_t done = bytes.size();
    const uint64_t piece = std::min(count - done, std::max<uint64_t>(kFirstPiece, done));
    bytes.resize(done + piece);
    bytes.resize(done + inflate_into(std::span(bytes).subspan(done)));
  }
  return bytes;
}

std::size_t GzipReader::inflate_into(std::span<uint8_t> out) {
  stream_.next_out = out.data();
  stream_.avail_out = static_cast<uInt>(out.size());
  while (stream_.avail_out > 0 && !ended_) {
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      ended_ = true;
      if (stream_.avail_in > 0) {
        fail("{} holds {} bytes after the end of its gzip stream, expected none", origin_,
             stream_.avail_in);
      }
    } else if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      fail("{} is a damaged gzip file after {} inflated bytes: {}", origin_, stream_.total_out,
           stream_.msg != nullptr ? stream_.msg : "unexpected content");
    } else if (stream_.avail_in == 0 && stream_.avail_out > 0) {
      fail("{} is a truncated gzip file: it stops after {} inflated bytes", origin_,
           stream_.total_out);
    }
  }
  return out.size() - stream_.avail_out;
}

}  // namespace bntt
