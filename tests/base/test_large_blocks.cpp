#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "base/large_blocks.h"
#include "bntt/buffer.h"

// The address sanitizer has an operator new of its own, which cannot be replaced.
#ifndef __SANITIZE_ADDRESS__
namespace {
thread_local bool no_memory = false;
}

// Not inlined: GCC would compare one's malloc with the other's free and warn of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* memory = no_memory ? nullptr : std::malloc(std::max<std::size_t>(1, bytes));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace bntt {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

TEST(LargeBlocks, TakeTheLowestPlaceThatFits) {
  LargeBlocks blocks(100 * kMegabyte);
  void* first = blocks.take(20 * kMegabyte);
  void* second = blocks.take(30 * kMegabyte);
  void* third = blocks.take(10 * kMegabyte);
  std::memset(first, 1, 20 * kMegabyte);
  EXPECT_TRUE(blocks.give_back(first, 20 * kMegabyte));
  EXPECT_TRUE(blocks.give_back(second, 30 * kMegabyte));
  EXPECT_EQ(blocks.take(45 * kMegabyte), first) << "neighbours are merged";
  void* rest = blocks.take(5 * kMegabyte);
  EXPECT_EQ(rest, static_cast<char*>(first) + 45 * kMegabyte);
  EXPECT_EQ(blocks.extent(), 60 * kMegabyte);
  EXPECT_TRUE(blocks.give_back(third, 10 * kMegabyte));
  EXPECT_EQ(blocks.take(40 * kMegabyte), static_cast<char*>(first) + 50 * kMegabyte);
}

TEST(LargeBlocks, DoNotOverlap) {
  LargeBlocks blocks(64 * kMegabyte);
  std::vector<std::pair<unsigned char*, std::size_t>> taken;
  for (std::size_t turn = 0; turn < 500; ++turn) {
    const std::size_t bytes = kMegabyte + turn * 7919 % (5 * kMegabyte);
    if (auto* block = static_cast<unsigned char*>(blocks.take(bytes))) {
      block[0] = block[bytes - 1] = static_cast<unsigned char>(turn);
      taken.emplace_back(block, bytes);
    }
    if (turn % 3 == 0 || taken.size() > 12) {
      const auto [block, size] = taken[turn * 31 % taken.size()];
      EXPECT_EQ(block[0], block[size - 1]);
      EXPECT_TRUE(blocks.give_back(block, size));
      taken.erase(std::ranges::find(taken, std::pair(block, size)));
    }
  }
  for (const auto& [block, size] : taken) EXPECT_TRUE(blocks.give_back(block, size));
  EXPECT_NE(blocks.take(64 * kMegabyte), nullptr) << "all is free, and in one piece";
}

#ifndef __SANITIZE_ADDRESS__
/// While one lives, operator new fails on this thread.
class NoMemory {
 public:
  NoMemory() { no_memory = true; }
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
  ~NoMemory() { no_memory = false; }
};

TEST(LargeBlocks, ComeBackWhenTheHeapHasNoMemory) {
  LargeBlocks blocks(30 * kMegabyte);
  void* first = blocks.take(10 * kMegabyte);
  void* second = blocks.take(10 * kMegabyte);
  void* third = blocks.take(10 * kMegabyte);
  {
    const NoMemory failing;
    EXPECT_TRUE(blocks.give_back(first, 10 * kMegabyte));
    EXPECT_TRUE(blocks.give_back(third, 10 * kMegabyte));
    EXPECT_EQ(blocks.take(5 * kMegabyte), nullptr) << "what would need memory is refused";
    EXPECT_EQ(blocks.take(10 * kMegabyte), first) << "a place that fits exactly needs none";
    EXPECT_TRUE(blocks.give_back(second, 10 * kMegabyte));
  }
  EXPECT_EQ(blocks.take(20 * kMegabyte), second) << "nothing was lost";
}
#endif

TEST(LargeBlocksDeathTest, AbortOnABlockThatIsGivenBackTwice) {
  LargeBlocks blocks(10 * kMegabyte);
  void* block = blocks.take(2 * kMegabyte);
  blocks.give_back(block, 2 * kMegabyte);
  EXPECT_DEATH(blocks.give_back(block, 2 * kMegabyte), "check failed");
}

TEST(LargeBlocks, RefuseWhatDoesNotFit) {
  LargeBlocks blocks(10 * kMegabyte);
  EXPECT_EQ(blocks.take(std::numeric_limits<std::size_t>::max()), nullptr);
  EXPECT_EQ(blocks.take(11 * kMegabyte), nullptr);
  EXPECT_NE(blocks.take(10 * kMegabyte), nullptr);
  EXPECT_EQ(blocks.take(1), nullptr);
  int elsewhere = 0;
  EXPECT_FALSE(blocks.give_back(&elsewhere, sizeof elsewhere));
}

TEST(Buffer, OfAnySizeHoldsItsNumbers) {
  for (const int64_t size : {int64_t{0}, int64_t{1}, int64_t{1000}, int64_t{3} << 20}) {
    auto buffer = Buffer<float>::zeros(size);
    for (int64_t i = 0; i < size; ++i) buffer[i] = static_cast<float>(i);
    Buffer<float> copy = buffer;
    const Buffer<float> moved = std::move(buffer);
    EXPECT_TRUE(std::equal(copy.begin(), copy.end(), moved.begin(), moved.end()));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(moved.data()) % kBufferAlignment, 0U);
    copy = Buffer<float>(1);
    EXPECT_EQ(copy.size(), 1);
  }
}

}  // namespace
}  // namespace bntt
