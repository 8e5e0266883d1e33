#include "data/sample_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <numeric>
#include <system_error>

#include "base/check.h"
#include "base/fail.h"
#include "base/threads.h"

namespace bntt {
namespace fs = std::filesystem;
namespace {

constexpr std::array<char, 8> kMagic = {'b', 'n', 't', 't', 'd', 'a', 't', '2'};
// Samples begin on a page and a shard that is followed by another holds whole pages of them, so
// that all shards can be mapped one after the other (StoredSamples::mapped).
constexpr int64_t kPageBytes = 4096;
// Each shard is an open file, and processes may often open no more than 1,024.
constexpr int64_t kMostShards = 256;
constexpr const char* kExtension = ".bnttcache";
constexpr const char* kTemporary = ".bnttcache-new";
constexpr const char* kLock = ".bnttcache-lock";

/// The header is followed by one CRC-32 per sample and then, on a page of its own, by the samples:
/// [sample, frame, y, x, channel].
struct Header {
  std::array<char, 8> magic = kMagic;
  uint64_t digest = 0;
  int64_t first = 0;
  int64_t samples = 0;
  int64_t sample_bytes = 0;
  uint64_t crc = 0;  ///< of the fields above and the table
};
static_assert(sizeof(Header) == 48);

uint64_t head_bytes(const ShardForm& form) {
  return sizeof(Header) + static_cast<uint64_t>(form.samples) * sizeof(uint32_t);
}

uint64_t head_crc(const Header& header, std::span<const uint32_t> crcs) {
  const auto fields = crc32_z(0, reinterpret_cast<const uint8_t*>(&header), offsetof(Header, crc));
  return crc32_z(fields, reinterpret_cast<const uint8_t*>(crcs.data()), crcs.size_bytes());
}

/// All files of one set in the cache.
struct KeptSet {
  fs::file_time_type used = fs::file_time_type::min();
  uint64_t bytes = 0;
  std::vector<fs::path> files;
};

/// The name of the set is followed by the first dot of the file's name.
std::string set_name(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.substr(0, name.find('.'));
}

/// Removes incomplete files and locks of processes that have ended.
std::map<std::string, KeptSet> kept_sets(const fs::path& directory) {
  std::map<std::string, KeptSet> sets;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    const fs::path path = entry->path();
    const fs::file_time_type used = entry->last_write_time(gone);
    const uint64_t bytes = entry->file_size(gone);
    if (gone) continue;
    const bool old = fs::file_time_type::clock::now() - used > std::chrono::hours(24);
    const bool passing = path.extension() == kTemporary || path.extension() == kLock;
    if (passing && old) fs::remove(path, gone);
    if (path.extension() != kExtension) continue;
    KeptSet& set = sets[set_name(path)];
    set.used = std::max(set.used, used);
    set.bytes += bytes;
    set.files.push_back(path);
  }
  return sets;
}

bool write_at(const Descriptor& file, uint64_t offset, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return true;
}

}  // namespace

uint64_t ShardForm::payload_offset() const {
  return (head_bytes(*this) + kPageBytes - 1) / kPageBytes * kPageBytes;
}

uint64_t ShardForm::file_bytes() const {
  return payload_offset() + static_cast<uint64_t>(samples * sample_bytes);
}

ShardForm CacheEntry::form(int64_t shard) const {
  const int64_t first = shard * samples_per_shard;
  return {.digest = digest,
          .first = first,
          .samples = std::min(samples_per_shard, samples - first),
          .sample_bytes = sample_bytes};
}

fs::path CacheEntry::path(int64_t shard) const {
  fs::path path = stem;
  path += fmt::format(".{:03}{}", shard, kExtension);
  return path;
}

CacheEntry cache_entry(const FileSplit& split, const CacheOptions& options) {
  BNTT_CHECK(!options.directory.empty() && !split.samples.empty());
  TextHash digest;  // the names of millions of files need not be held as one text
  digest.add(fmt::format("{}\n{}\n{} frames of {}x{}x{}\n", split.name, split.settings,
                         split.form.frames, split.form.shape.channels, split.form.shape.height,
                         split.form.shape.width));
  std::error_code ignored;
  for (std::size_t i = 0; i < split.files.size(); ++i) {
    const fs::path file = split.files[i];
    struct stat status {};
    ::stat(file.c_str(), &status);
    digest.add(fmt::format("{} {} {}.{}\n", fs::absolute(file, ignored).string(), status.st_size,
                           status.st_mtim.tv_sec, status.st_mtim.tv_nsec));
  }
  for (const FileSample& sample : split.samples) {
    digest.add(fmt::format("{} {} {}\n", sample.file, sample.begin_us, sample.end_us));
  }
  CacheEntry entry{
      .stem = options.directory / fmt::format("{}-{:016x}", split.name, digest.value()),
      .digest = digest.value(),
      .samples = std::ssize(split.samples),
      .sample_bytes = split.form.sample_bytes()};
  const int64_t whole_pages = kPageBytes / std::gcd(kPageBytes, entry.sample_bytes);
  const int64_t wanted = std::max(static_cast<int64_t>(options.shard_bytes) / entry.sample_bytes,
                                  (entry.samples + kMostShards - 1) / kMostShards);
  entry.samples_per_shard =
      std::max<int64_t>(1, (wanted + whole_pages - 1) / whole_pages) * whole_pages;
  return entry;
}

std::vector<uint8_t> shard_head(const ShardForm& form, std::span<const uint32_t> crcs) {
  BNTT_CHECK(std::ssize(crcs) == form.samples);
  Header header{.digest = form.digest,
                .first = form.first,
                .samples = form.samples,
                .sample_bytes = form.sample_bytes};
  header.crc = head_crc(header, crcs);
  std::vector<uint8_t> head(form.payload_offset());
  std::memcpy(head.data(), &header, sizeof(header));
  std::memcpy(head.data() + sizeof(header), crcs.data(), crcs.size_bytes());
  return head;
}

std::vector<uint32_t> parse_shard_head(std::span<const uint8_t> head, const ShardForm& form,
                                       const std::string& origin) {
  if (head.size() < head_bytes(form)) {
    fail("{}: holds {} bytes, expected at least {}", origin, head.size(), head_bytes(form));
  }
  Header header;
  std::memcpy(&header, head.data(), sizeof(header));
  if (header.magic != kMagic) {
    fail("{}: begins with other bytes than {}", origin,
         std::string_view(kMagic.data(), kMagic.size()));
  }
  if (header.digest != form.digest) {
    fail("{}: was made from other files or settings: its digest is {:016x}, expected {:016x}",
         origin, header.digest, form.digest);
  }
  if (header.first != form.first || header.samples != form.samples ||
      header.sample_bytes != form.sample_bytes) {
    fail("{}: holds {} samples of {} bytes from sample {} on, expected {} of {} from {} on", origin,
         header.samples, header.sample_bytes, header.first, form.samples, form.sample_bytes,
         form.first);
  }
  std::vector<uint32_t> crcs(static_cast<std::size_t>(form.samples));
  std::memcpy(crcs.data(), head.data() + sizeof(header), crcs.size() * sizeof(uint32_t));
  const uint64_t found = head_crc(header, crcs);
  if (found != header.crc) {
    fail("{}: its head has the CRC-32 {:08x}, expected {:08x}", origin, found, header.crc);
  }
  return crcs;
}

SampleFile open_shard(const fs::path& path, const ShardForm& form) {
  SampleFile shard{.path = path.string(),
                   .file = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
                   .offset = form.payload_offset(),
                   .samples = form.samples,
                   .sample_bytes = form.sample_bytes,
                   .crcs = {}};
  if (shard.file.get() < 0) fail("{}: cannot be opened: {}", shard.path, system_message());
  struct stat status {};
  if (::fstat(shard.file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    fail("{}: is not a regular file", shard.path);
  }
  if (static_cast<uint64_t>(status.st_size) != form.file_bytes()) {
    fail("{}: holds {} bytes, expected {}", shard.path, status.st_size, form.file_bytes());
  }
  std::vector<uint8_t> head(head_bytes(form));
  read_at(shard.file, shard.path, 0, head.data(), head.size());
  shard.crcs = parse_shard_head(head, form, shard.path);
  return shard;
}

ShardWriter::ShardWriter(fs::path path, fs::path temporary, Descriptor file, const ShardForm& form)
    : path_(std::move(path)),
      temporary_(std::move(temporary)),
      file_(std::move(file)),
      form_(form) {}

std::optional<ShardWriter> ShardWriter::create(const fs::path& path, const ShardForm& form) {
  static std::atomic<int> count = 0;
  fs::path temporary = path;
  temporary.replace_extension(fmt::format(".{}-{}{}", ::getpid(), ++count, kTemporary));
  Descriptor file(::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (file.get() < 0) return std::nullopt;
  ShardWriter writer(path, std::move(temporary), std::move(file), form);
  const auto bytes = static_cast<off_t>(form.file_bytes());
  if (::posix_fallocate(writer.file_.get(), 0, bytes) != 0) return std::nullopt;
  return writer;
}

ShardWriter::~ShardWriter() {
  std::error_code ignored;
  if (file_.get() >= 0) fs::remove(temporary_, ignored);
}

bool ShardWriter::append(std::span<const uint8_t> samples) {
  const auto size = static_cast<std::size_t>(form_.sample_bytes);
  const std::size_t before = crcs_.size();
  const std::size_t count = samples.size() / size;
  BNTT_CHECK(samples.size() % size == 0 && static_cast<int64_t>(before + count) <= form_.samples);
  crcs_.resize(before + count);
  parallel_for(static_cast<int64_t>(count), [&](int64_t i) {
    const auto sample = static_cast<std::size_t>(i);
    crcs_[before + sample] =
        static_cast<uint32_t>(crc32_z(0, samples.data() + sample * size, size));
  });
  return write_at(file_, form_.payload_offset() + before * size, samples);
}

bool ShardWriter::finish() {
  std::error_code error;
  if (!write_at(file_, 0, shard_head(form_, crcs_)) || ::fdatasync(file_.get()) != 0) return false;
  fs::rename(temporary_, path_, error);
  return !error && file_.close();
}

Descriptor lock_shards(const CacheEntry& entry) {
  std::error_code ignored;
  fs::create_directories(entry.stem.parent_path(), ignored);
  fs::path path = entry.stem;
  path += kLock;
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  while (file.get() >= 0 && ::flock(file.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  return file;
}

bool make_room(const CacheEntry& entry, uint64_t bytes, const CacheOptions& options) {
  std::error_code error;
  fs::create_directories(options.directory, error);
  if (error) return false;
  fs::path single = entry.stem;  // the name of the file before there were shards
  single += kExtension;
  fs::remove(single, error);
  std::map<std::string, KeptSet> sets = kept_sets(options.directory);
  const auto own = sets.extract(set_name(entry.stem));
  uint64_t total = bytes + (own.empty() ? 0 : own.mapped().bytes);
  std::vector<const KeptSet*> by_age;
  for (const auto& [name, set] : sets) {
    total += set.bytes;
    by_age.push_back(&set);
  }
  std::ranges::sort(by_age, {}, &KeptSet::used);
  for (const KeptSet* set : by_age) {
    if (total <= options.limit_bytes) break;
    for (const fs::path& file : set->files) fs::remove(file, error);
    total -= set->bytes;
  }
  const fs::space_info space = fs::space(options.directory, error);
  return !error && space.available >= bytes;
}

}  // namespace bntt
