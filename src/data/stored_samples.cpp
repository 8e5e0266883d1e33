#include "data/stored_samples.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"
#include "base/fail.h"

namespace bntt {
namespace {

/// Addresses without memory behind them, on which files can be mapped.
class AddressRange {
 public:
  explicit AddressRange(uint64_t size)
      : memory_(
            ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
        size_(size) {}
  AddressRange(const AddressRange&) = delete;
  AddressRange& operator=(const AddressRange&) = delete;
  ~AddressRange() {
    if (valid()) ::munmap(memory_, size_);
  }
  bool valid() const { return memory_ != MAP_FAILED; }
  uint8_t* data() const { return static_cast<uint8_t*>(memory_); }

 private:
  void* memory_;
  uint64_t size_;
};

}  // namespace

void read_at(const Descriptor& file, const std::string& path, uint64_t offset, uint8_t* out,
             std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got =
        ::pread(file.get(), out + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("{}: cannot be read: {}", path, system_message());
    if (got == 0) {
      fail("{}: holds {} bytes, expected at least {}", path, offset + done, offset + size);
    }
    done += static_cast<std::size_t>(got);
  }
}

void SampleFile::read(int64_t sample, uint8_t* out) const {
  const auto size = static_cast<std::size_t>(sample_bytes);
  read_at(file, path, offset_of(sample), out, size);
  if (crcs.empty()) return;
  const uint32_t expected = crcs[static_cast<std::size_t>(sample)];
  const auto found = static_cast<uint32_t>(crc32_z(0, out, size));
  if (found != expected) {
    fail("{}: sample {} has the CRC-32 {:08x}, expected {:08x}", path, sample, found, expected);
  }
}

StoredSamples::StoredSamples(std::vector<SampleFile> files) : files_(std::move(files)), first_{0} {
  BNTT_CHECK(!files_.empty());
  for (const SampleFile& file : files_) {
    BNTT_CHECK(file.sample_bytes == files_.front().sample_bytes);
    BNTT_CHECK(file.crcs.empty() || std::ssize(file.crcs) == file.samples);
    first_.push_back(first_.back() + file.samples);
  }
}

StoredSamples::Place StoredSamples::place_of(int64_t sample) const {
  BNTT_CHECK(sample >= 0 && sample < size());
  const auto next = std::ranges::upper_bound(first_, sample);
  const auto file = static_cast<std::size_t>(next - first_.begin() - 1);
  return {.file = files_[file], .index = sample - first_[file]};
}

void StoredSamples::read(int64_t sample, uint8_t* out) const {
  const Place place = place_of(sample);
  try {
    place.file.read(place.index, out);
  } catch (const Error& error) {
    if (place.file.crcs.empty()) throw;
    fail("{}; remove this file, and its samples will be decoded again", error.what());
  }
}

void StoredSamples::begin_reading(std::span<const int64_t> samples) const {
  for (const int64_t sample : samples) {
    const Place place = place_of(sample);
    ::posix_fadvise(place.file.file.get(), static_cast<off_t>(place.file.offset_of(place.index)),
                    static_cast<off_t>(place.file.sample_bytes), POSIX_FADV_WILLNEED);
  }
}

std::optional<SharedBytes> StoredSamples::mapped() const {
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto bytes_of = [&](int64_t samples) {
    return static_cast<uint64_t>(samples * files_.front().sample_bytes);
  };
  // The samples of a single file may begin inside a page.
  const uint64_t lead = files_.size() == 1 ? files_.front().offset % page : 0;
  const auto addresses = std::make_shared<AddressRange>(lead + bytes_of(size()));
  if (!addresses->valid()) return std::nullopt;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const uint64_t target = bytes_of(first_[i]);
    const uint64_t offset = files_[i].offset - lead;
    if (target % page != 0 || offset % page != 0) return std::nullopt;
    const void* memory =
        ::mmap(addresses->data() + target, lead + bytes_of(files_[i].samples), PROT_READ,
               MAP_SHARED | MAP_FIXED, files_[i].file.get(), static_cast<off_t>(offset));
    if (memory == MAP_FAILED) return std::nullopt;
  }
  return SharedBytes(addresses, {addresses->data() + lead, bytes_of(size())});
}

}  // namespace bntt
