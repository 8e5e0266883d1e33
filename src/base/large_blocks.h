#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace bntt {

/// Memory for large buffers: one range of addresses of which the lowest free place that fits is
/// taken, and which stays mapped. A training step takes and gives back the same sizes again and
/// again, the last first, so the range grows to little more than the most that is in use at once.
/// The general heap, told to keep what is freed, needs twice that: small blocks that outlive the
/// step lie between the large ones. Giving memory back to the kernel instead would have it zeroed
/// anew each time, a fifth of the training time.
class LargeBlocks {
 public:
  /// From this size on a buffer is large.
  static constexpr std::size_t kSmallest = std::size_t{1} << 20;

  /// `capacity` is reserved, not used: pages become real when they are first written.
  explicit LargeBlocks(std::size_t capacity);
  LargeBlocks(const LargeBlocks&) = delete;
  LargeBlocks& operator=(const LargeBlocks&) = delete;
  ~LargeBlocks();

  /// Contents undefined, on a page boundary; null when nothing fits.
  void* take(std::size_t bytes) noexcept;
  /// False: the block is not from here.
  bool give_back(void* block, std::size_t bytes) noexcept;

  /// How far the range was ever used.
  std::size_t extent() const { return extent_; }

 private:
  std::size_t capacity_;
  char* start_;  // null: the kernel refused
  std::mutex mutex_;
  std::size_t extent_ = 0;
  std::map<std::size_t, std::size_t> free_;  // offset to size; neighbours are merged
  // The same of blocks in use: the node that a block needs when it is given back is there already.
  std::map<std::size_t, std::size_t> taken_;
};

}  // namespace bntt
