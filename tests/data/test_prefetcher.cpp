#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>

#include "data/prefetcher.h"

namespace bntt {
namespace {

TEST(Prefetcher, DeliversEverythingInOrder) {
  int made = 0;
  Prefetcher<std::unique_ptr<int>> prefetcher([&] { return std::make_unique<int>(made++); }, 3);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(*prefetcher.next(), i);
}

TEST(Prefetcher, NeverRunsFurtherAheadThanItsDepth) {
  std::atomic<int> made = 0;
  std::atomic<int> taken = 0;
  std::atomic<bool> too_far = false;
  Prefetcher<int> prefetcher(
      [&] {
        // Ready results, the one that next() may just have handed over, and the one that waits for
        // a place.
        if (made - taken > 3 + 2) too_far = true;
        return made++;
      },
      3);
  for (int i = 0; i < 1000; ++i, ++taken) prefetcher.next();
  EXPECT_FALSE(too_far);
}

TEST(Prefetcher, RethrowsAFailureAfterWhatWasMadeBefore) {
  int made = 0;
  Prefetcher<int> prefetcher(
      [&] {
        if (made == 5) throw std::runtime_error("no more");
        return made++;
      },
      3);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(prefetcher.next(), i);
  EXPECT_THROW(prefetcher.next(), std::runtime_error);
  EXPECT_THROW(prefetcher.next(), std::runtime_error);
}

TEST(Prefetcher, StopsWhetherFullOrJustStarted) {
  for (int i = 0; i < 100; ++i) {
    Prefetcher<int> prefetcher([] { return 1; }, 2);
    if (i % 2 == 0) prefetcher.next();
  }
}

}  // namespace
}  // namespace bntt
