#include "base/large_blocks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>

#include "base/check.h"
#include "base/fail.h"
#include "bntt/buffer.h"

namespace bntt {
namespace {

constexpr std::size_t kPage = 4096;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

LargeBlocks::LargeBlocks(std::size_t capacity) : capacity_(capacity) {
  void* mapped = mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  start_ = mapped == MAP_FAILED ? nullptr : static_cast<char*>(mapped);
  if (start_ != nullptr) free_.emplace(0, capacity);
}

LargeBlocks::~LargeBlocks() {
  if (start_ != nullptr) munmap(start_, capacity_);
}

void* LargeBlocks::take(std::size_t bytes) noexcept {
  if (bytes > capacity_) return nullptr;
  const std::size_t size = whole_pages(bytes);
  const std::lock_guard lock(mutex_);
  const auto place = std::ranges::find_if(free_, [&](const auto& f) { return f.second >= size; });
  if (place == free_.end()) return nullptr;
  const auto [offset, available] = *place;
  if (available > size) {
    try {
      taken_.emplace(offset, size);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    // Moving nodes needs no memory: nothing below can fail.
    auto rest = free_.extract(place);
    rest.key() = offset + size;
    rest.mapped() = available - size;
    free_.insert(std::move(rest));
  } else {
    taken_.insert(free_.extract(place));
  }
  extent_ = std::max(extent_, offset + size);
  return start_ + offset;
}

bool LargeBlocks::give_back(void* block, std::size_t bytes) noexcept {
  auto* address = static_cast<char*>(block);
  if (start_ == nullptr || address < start_ || address >= start_ + capacity_) return false;
  const std::lock_guard lock(mutex_);
  auto node = taken_.extract(static_cast<std::size_t>(address - start_));
  BNTT_CHECK(!node.empty() && node.mapped() == whole_pages(bytes));
  const auto place = free_.insert(std::move(node)).position;
  const auto swallow_next = [&](auto at) {
    const auto next = std::next(at);
    if (next == free_.end() || at->first + at->second != next->first) return;
    at->second += next->second;
    free_.erase(next);
  };
  swallow_next(place);
  if (place != free_.begin()) swallow_next(std::prev(place));
  return true;
}

namespace {

// Twice the physical memory, since some may be swapped out. Never destroyed: buffers may live as
// long as the program.
LargeBlocks* make_range() {
  return new LargeBlocks(2 * static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                         static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
}

// The largest blocks have a range of their own: spikes of a few megabytes that outlive a stage
// would fragment the space that the next stage's gradient needs.
LargeBlocks& range_for(std::size_t bytes) {
  constexpr std::size_t kLargest = std::size_t{32} << 20;
  static LargeBlocks* const middling = make_range();
  static LargeBlocks* const largest = make_range();
  return bytes < kLargest ? *middling : *largest;
}

// The address sanitizer only detects misuse of memory from malloc.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kBlocksApart = false;
#elif defined(__has_feature)
constexpr bool kBlocksApart = !__has_feature(address_sanitizer);
#else
constexpr bool kBlocksApart = true;
#endif

bool is_large(std::size_t bytes) { return kBlocksApart && bytes >= LargeBlocks::kSmallest; }

}  // namespace

std::size_t buffer_bytes(int64_t count, std::size_t bytes_each) {
  if (count < 0) fail("buffer: a size of {}, expected at least 0", count);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(count), bytes_each, &bytes)) {
    throw std::bad_alloc();
  }
  return bytes;
}

void* allocate_buffer(std::size_t bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 62;  // leaves room for rounding up
  if (bytes > kMost) throw std::bad_alloc();
  void* memory = is_large(bytes) ? range_for(bytes).take(bytes) : nullptr;
  if (memory != nullptr) return memory;
  const std::size_t rounded = (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  memory = std::aligned_alloc(kBufferAlignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void free_buffer(void* memory, std::size_t bytes) noexcept {
  if (is_large(bytes) && range_for(bytes).give_back(memory, bytes)) return;
  std::free(memory);
}

}  // namespace bntt
