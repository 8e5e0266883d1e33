#include "data/sample_cache.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <system_error>

#include "base/threads.h"

namespace bntt {
namespace fs = std::filesystem;
namespace {

constexpr std::array<char, 8> kMagic = {'b', 'n', 't', 't', 'd', 'a', 't', '1'};
constexpr uint64_t kChunkBytes = 1 << 20;
constexpr uint64_t kPageBytes = 4096;
constexpr const char* kExtension = ".bnttcache";
constexpr const char* kTemporary = ".bnttcache-new";

/// The header is followed by one CRC-32 per chunk of the payload and then, on a page of its own, by
/// the payload: [sample, frame, y, x, channel].
struct Header {
  std::array<char, 8> magic = kMagic;
  uint64_t digest = 0;
  uint64_t payload_bytes = 0;
  uint64_t table_crc = 0;  ///< of the three fields above and the table
};
static_assert(sizeof(Header) == 32);

uint64_t chunks_of(uint64_t payload_bytes) {
  return (payload_bytes + kChunkBytes - 1) / kChunkBytes;
}

uint64_t payload_offset(uint64_t payload_bytes) {
  const uint64_t end = sizeof(Header) + chunks_of(payload_bytes) * sizeof(uint32_t);
  return (end + kPageBytes - 1) / kPageBytes * kPageBytes;
}

uint32_t crc_of(std::span<const uint8_t> bytes) {
  return static_cast<uint32_t>(crc32_z(0, bytes.data(), bytes.size()));
}

uint32_t chunk_crc(std::span<const uint8_t> payload, uint64_t chunk) {
  const uint64_t begin = chunk * kChunkBytes;
  return crc_of(payload.subspan(begin, std::min(kChunkBytes, payload.size() - begin)));
}

uint64_t table_crc(const uint8_t* file, uint64_t payload_bytes) {
  const auto fields = crc32_z(0, file, offsetof(Header, table_crc));
  return crc32_z(fields, file + sizeof(Header), chunks_of(payload_bytes) * sizeof(uint32_t));
}

std::vector<uint32_t> chunk_crcs(std::span<const uint8_t> payload) {
  std::vector<uint32_t> crcs(chunks_of(payload.size()));
  parallel_for(static_cast<int64_t>(crcs.size()), [&](int64_t chunk) {
    crcs[chunk] = chunk_crc(payload, static_cast<uint64_t>(chunk));
  });
  return crcs;
}

struct KeptFile {
  fs::file_time_type used;
  uint64_t bytes;
  fs::path path;
};

/// The cache's files, least recently used first. Removes incomplete files of processes that have
/// ended.
std::vector<KeptFile> kept_files(const fs::path& directory) {
  std::vector<KeptFile> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    const KeptFile file{entry->last_write_time(gone), entry->file_size(gone), entry->path()};
    if (gone) continue;
    const std::string extension = file.path.extension().string();
    const bool old = fs::file_time_type::clock::now() - file.used > std::chrono::hours(24);
    if (extension == kExtension) files.push_back(file);
    if (extension == kTemporary && old) fs::remove(file.path, gone);
  }
  std::ranges::sort(files, {}, &KeptFile::used);
  return files;
}

bool make_room(const fs::path& directory, uint64_t bytes, uint64_t limit) {
  if (bytes > limit) return false;
  const std::vector<KeptFile> files = kept_files(directory);
  uint64_t total = bytes;
  for (const KeptFile& file : files) total += file.bytes;
  for (const KeptFile& file : files) {
    if (total <= limit) break;
    std::error_code ignored;
    if (fs::remove(file.path, ignored)) total -= file.bytes;
  }
  return total <= limit;
}

std::optional<SharedBytes> shared_payload(std::unique_ptr<MappedFile> file,
                                          std::span<const uint8_t> payload) {
  return SharedBytes(std::shared_ptr<const void>(std::move(file)), payload);
}

}  // namespace

CacheEntry cache_entry(const FileSplit& split, const CacheOptions& options) {
  if (options.directory.empty()) return {};
  std::string key =
      fmt::format("{}\n{}\n{} frames of {}x{}x{}\n", split.name, split.settings, split.form.frames,
                  split.form.shape.channels, split.form.shape.height, split.form.shape.width);
  std::error_code ignored;
  for (const fs::path& file : split.files) {
    struct stat status {};
    ::stat(file.c_str(), &status);
    key += fmt::format("{} {} {}.{}\n", fs::absolute(file, ignored).string(), status.st_size,
                       status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  }
  for (const FileSample& sample : split.samples) {
    key += fmt::format("{} {} {}\n", sample.file, sample.begin_us, sample.end_us);
  }
  const uint64_t digest = name_hash(key);
  return {.path = options.directory / fmt::format("{}-{:016x}{}", split.name, digest, kExtension),
          .digest = digest,
          .payload_bytes = static_cast<uint64_t>(split.samples.size()) *
                           static_cast<uint64_t>(split.form.sample_bytes())};
}

std::optional<std::span<const uint8_t>> cache_payload(std::span<const uint8_t> file,
                                                      uint64_t digest, uint64_t payload_bytes) {
  const uint64_t offset = payload_offset(payload_bytes);
  if (file.size() < offset || file.size() - offset != payload_bytes) return std::nullopt;
  Header header;
  std::memcpy(&header, file.data(), sizeof(header));
  if (header.magic != kMagic || header.digest != digest || header.payload_bytes != payload_bytes ||
      header.table_crc != table_crc(file.data(), payload_bytes)) {
    return std::nullopt;
  }
  const std::span<const uint8_t> payload = file.subspan(offset);
  const std::vector<uint32_t> crcs = chunk_crcs(payload);
  if (std::memcmp(crcs.data(), file.data() + sizeof(Header), crcs.size() * sizeof(uint32_t)) != 0) {
    return std::nullopt;
  }
  return payload;
}

std::optional<SharedBytes> open_cache(const CacheEntry& entry) {
  if (entry.path.empty()) return std::nullopt;
  std::unique_ptr<MappedFile> file = MappedFile::open(entry.path);
  if (file == nullptr) return std::nullopt;
  const auto payload = cache_payload(file->bytes(), entry.digest, entry.payload_bytes);
  if (!payload) return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(entry.path, fs::file_time_type::clock::now(), ignored);
  return shared_payload(std::move(file), *payload);
}

CacheWriter::CacheWriter(CacheEntry entry, fs::path temporary, std::unique_ptr<MappedFile> file)
    : entry_(std::move(entry)), temporary_(std::move(temporary)), file_(std::move(file)) {}

CacheWriter::~CacheWriter() {
  std::error_code ignored;
  if (file_ != nullptr) fs::remove(temporary_, ignored);
}

std::span<uint8_t> CacheWriter::payload() {
  return file_->writable().subspan(payload_offset(entry_.payload_bytes));
}

std::optional<SharedBytes> CacheWriter::finish() {
  const std::vector<uint32_t> crcs = chunk_crcs(payload());
  uint8_t* bytes = file_->writable().data();
  std::memcpy(bytes + sizeof(Header), crcs.data(), crcs.size() * sizeof(uint32_t));
  Header header{.digest = entry_.digest, .payload_bytes = entry_.payload_bytes};
  std::memcpy(bytes, &header, sizeof(header));
  header.table_crc = table_crc(bytes, entry_.payload_bytes);
  std::memcpy(bytes, &header, sizeof(header));
  std::error_code error;
  if (!file_->sync()) return std::nullopt;
  fs::rename(temporary_, entry_.path, error);
  if (error) return std::nullopt;
  const std::span<const uint8_t> all = payload();
  return shared_payload(std::move(file_), all);
}

std::optional<CacheWriter> begin_cache(const CacheEntry& entry, const CacheOptions& options) {
  if (entry.path.empty()) return std::nullopt;
  std::error_code error;
  fs::create_directories(options.directory, error);
  const uint64_t bytes = payload_offset(entry.payload_bytes) + entry.payload_bytes;
  if (error || !make_room(options.directory, bytes, options.limit_bytes)) return std::nullopt;
  static std::atomic<int> count = 0;
  fs::path temporary = entry.path;
  temporary.replace_extension(fmt::format(".{}-{}{}", ::getpid(), ++count, kTemporary));
  std::unique_ptr<MappedFile> file = MappedFile::create(temporary, bytes);
  if (file == nullptr) return std::nullopt;
  return CacheWriter(entry, std::move(temporary), std::move(file));
}

}  // namespace bntt
