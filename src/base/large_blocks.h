#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace bntt {

/// Memory for large buffers: one range of addresses, which stays mapped; a block takes the lowest
/// free space that fits. A training step allocates and frees the same sizes again and again, last
/// in first out, so the range grows to little more than the peak usage. The general heap, set to
/// keep freed memory, needs twice that: small blocks that outlive the step lie between the large
/// ones. Returning memory to the kernel instead would have it zeroed again each time, which costs a
/// fifth of the training time.
class LargeBlocks {
 public:
  /// A buffer of at least this size is large.
  static constexpr std::size_t kSmallest = std::size_t{1} << 20;

  /// `capacity` is reserved, not allocated: pages are allocated when they are first written.
  explicit LargeBlocks(std::size_t capacity);
  LargeBlocks(const LargeBlocks&) = delete;
  LargeBlocks& operator=(const LargeBlocks&) = delete;
  ~LargeBlocks();

  /// Contents undefined, on a page boundary; null if nothing fits.
  void* take(std::size_t bytes) noexcept;
  /// Returns false if the block is not from here.
  bool give_back(void* block, std::size_t bytes) noexcept;

  /// The largest extent of the range ever used.
  std::size_t extent() const { return extent_; }

 private:
  std::size_t capacity_;
  char* start_;  // null if the kernel refused
  std::mutex mutex_;
  std::size_t extent_ = 0;
  std::map<std::size_t, std::size_t> free_;  // offset to size; neighbours are merged
  // The same for blocks in use: the node that a block needs when it is freed already exists.
  std::map<std::size_t, std::size_t> taken_;
};

}  // namespace bntt
