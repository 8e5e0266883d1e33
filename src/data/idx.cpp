#include "data/idx.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <system_error>

#include "base/check.h"
#include "base/fail.h"
#include "base/files.h"
#include "data/gzip_reader.h"

namespace bntt {
namespace fs = std::filesystem;
namespace {

// In memory. The largest member of the family, EMNIST, has 547 MB of pixels.
constexpr uint64_t kLargestIdx = 1ULL << 30;
constexpr uint32_t kUnsignedByte = 0x08;
constexpr int kImageRank = 3;

uint32_t big_endian(std::span<const uint8_t, 4> bytes) {
  return static_cast<uint32_t>(bytes[0]) << 24 | static_cast<uint32_t>(bytes[1]) << 16 |
         static_cast<uint32_t>(bytes[2]) << 8 | bytes[3];
}

std::size_t header_size(int rank) { return 4 + 4 * static_cast<std::size_t>(rank); }

std::vector<int64_t> parse_header(std::span<const uint8_t> bytes, int rank, uint64_t limit,
                                  const std::string& origin) {
  if (bytes.size() < header_size(rank)) {
    fail("{} holds {} bytes, expected at least the {} of an IDX header", origin, bytes.size(),
         header_size(rank));
  }
  const uint32_t magic = big_endian(bytes.first<4>());
  const uint32_t expected = kUnsignedByte << 8 | static_cast<uint32_t>(rank);
  if (magic != expected) {
    fail("{} starts with the magic number 0x{:08x}, expected 0x{:08x}", origin, magic, expected);
  }
  std::vector<int64_t> extents;
  uint64_t size = 1;
  for (int axis = 0; axis < rank; ++axis) {
    const uint32_t extent = big_endian(bytes.subspan(header_size(axis)).first<4>());
    if (extent == 0) fail("{} announces 0 along axis {}, expected at least 1", origin, axis + 1);
    if (extent > limit / size) {
      fail("{} announces more than the {} bytes that are accepted", origin, limit);
    }
    size *= extent;
    extents.push_back(extent);
  }
  return extents;
}

uint64_t product(const std::vector<int64_t>& extents) {
  uint64_t size = 1;
  for (const int64_t extent : extents) size *= static_cast<uint64_t>(extent);
  return size;
}

IdxArray parse_plain(std::span<const uint8_t> bytes, int rank, const std::string& origin) {
  IdxArray array{parse_header(bytes, rank, kLargestIdx, origin), {}};
  const uint64_t expected = header_size(rank) + product(array.extents);
  if (bytes.size() != expected) {
    fail("{} holds {} bytes, expected {}", origin, bytes.size(), expected);
  }
  const auto values = bytes.subspan(header_size(rank));
  array.values.assign(values.begin(), values.end());
  return array;
}

IdxArray parse_compressed(std::span<const uint8_t> bytes, int rank, const std::string& origin) {
  GzipReader reader(bytes, origin);
  IdxArray array{parse_header(reader.read(header_size(rank)), rank, kLargestIdx, origin), {}};
  const uint64_t expected = product(array.extents);
  array.values = reader.read(expected);
  if (array.values.size() < expected) {
    fail("{} inflates to {} bytes, expected {}", origin, header_size(rank) + array.values.size(),
         header_size(rank) + expected);
  }
  if (!reader.read(1).empty()) {
    fail("{} inflates to more than the expected {} bytes", origin, header_size(rank) + expected);
  }
  return array;
}

fs::path plain_or_compressed(const fs::path& path, const std::string& dataset) {
  fs::path compressed = path;
  compressed += ".gz";
  std::error_code ignored;
  if (fs::exists(path, ignored)) return path;
  if (!fs::exists(compressed, ignored)) {
    fail("{}: neither {} nor {} exists", dataset, path.string(), compressed.filename().string());
  }
  return compressed;
}

/// Whatever its name.
bool holds_gzip(const fs::path& path) {
  std::array<char, 2> start{};
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  return is_gzip({reinterpret_cast<const uint8_t*>(start.data()), start.size()});
}

/// The images of a plain file, which stay there.
IdxImages open_images(const fs::path& path, const std::string& origin) {
  constexpr uint64_t kLargestPlain = uint64_t{1} << 62;
  SampleFile file{.path = origin,
                  .file = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
                  .offset = header_size(kImageRank),
                  .crcs = {}};
  struct stat status {};
  if (file.file.get() < 0 || ::fstat(file.file.get(), &status) != 0) {
    fail("{} cannot be opened: {}", origin, system_message());
  }
  std::vector<uint8_t> header(header_size(kImageRank));
  read_at(file.file, origin, 0, header.data(), header.size());
  const std::vector<int64_t> extents = parse_header(header, kImageRank, kLargestPlain, origin);
  const uint64_t expected = header.size() + product(extents);
  if (static_cast<uint64_t>(status.st_size) != expected) {
    fail("{} holds {} bytes, expected {}", origin, status.st_size, expected);
  }
  file.samples = extents[0];
  file.sample_bytes = extents[1] * extents[2];
  std::vector<SampleFile> files;
  files.push_back(std::move(file));
  return {.count = extents[0],
          .height = extents[1],
          .width = extents[2],
          .values = {},
          .stored = std::make_shared<const StoredSamples>(std::move(files))};
}

}  // namespace

IdxArray parse_idx(std::span<const uint8_t> bytes, int rank, const std::string& origin) {
  BNTT_CHECK(rank >= 1 && rank <= 255);
  return is_gzip(bytes) ? parse_compressed(bytes, rank, origin) : parse_plain(bytes, rank, origin);
}

IdxArray read_idx(const fs::path& path, int rank, const std::string& dataset) {
  const fs::path found = plain_or_compressed(path, dataset);
  const std::vector<uint8_t> bytes = read_file(found, kLargestIdx + header_size(rank));
  return parse_idx(bytes, rank, dataset + ": " + found.string());
}

IdxImages read_idx_images(const fs::path& path, const std::string& dataset, uint64_t held_bytes) {
  const fs::path found = plain_or_compressed(path, dataset);
  std::error_code ignored;
  if (found != path || fs::file_size(path, ignored) <= held_bytes || holds_gzip(path)) {
    IdxArray array = read_idx(path, kImageRank, dataset);
    return {.count = array.extents[0],
            .height = array.extents[1],
            .width = array.extents[2],
            .values = std::move(array.values),
            .stored = nullptr};
  }
  return open_images(path, dataset + ": " + path.string());
}

}  // namespace bntt
