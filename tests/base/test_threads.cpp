#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <vector>

#include "base/threads.h"
#include "bntt/error.h"

namespace bntt {
namespace {

using ::testing::Each;
using ::testing::ThrowsMessage;

/// Two threads, also on a machine of one core.
class ParallelFor : public ::testing::Test {
 protected:
  ParallelFor() { set_threads(2); }
  ~ParallelFor() override { set_threads(0); }
};

TEST_F(ParallelFor, TakesEveryItemOnce) {
  std::vector<int> taken(1000, 0);
  parallel_for(1000, [&](int64_t i) { ++taken[static_cast<std::size_t>(i)]; });
  EXPECT_THAT(taken, Each(1));
  parallel_for(0, [](int64_t) { FAIL(); });
}

TEST_F(ParallelFor, IsTimedItemByItem) {
  std::vector<std::size_t> loops;
  std::vector<int64_t> order;
  {
    const WorkItemClock clock([&](std::span<const double> seconds) {
      loops.push_back(seconds.size());
      for (const double item : seconds) EXPECT_GE(item, 0.0);
    });
    parallel_for(5, [&](int64_t i) {
      order.push_back(i);
      parallel_for(3, [](int64_t) {});  // part of its item
    });
    parallel_for(0, [](int64_t) {});
    EXPECT_THROW(parallel_for(2, [](int64_t) { throw Error("wrong"); }), Error);
    parallel_for(2, [](int64_t) {});
  }
  parallel_for(7, [](int64_t) {});
  EXPECT_EQ(loops, (std::vector<std::size_t>{5, 0, 2}));
  EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2, 3, 4})) << "one after the other";
}

TEST_F(ParallelFor, HandsAnExceptionToTheCaller) {
  for (const int64_t wrong : {0, 500, 999}) {
    EXPECT_THAT(
        [&] {
          parallel_for(1000, [&](int64_t i) {
            if (i == wrong) throw Error("item " + std::to_string(i));
          });
        },
        ThrowsMessage<Error>("item " + std::to_string(wrong)));
  }
}

TEST_F(ParallelFor, HandsOverOneOfSeveralAndBeginsNoMore) {
  std::atomic<int> begun = 0;
  EXPECT_THROW(parallel_for(100000,
                            [&](int64_t) {
                              ++begun;
                              throw std::bad_alloc();
                            }),
               std::bad_alloc);
  EXPECT_LE(begun, 2) << "at most one on each thread";
  int64_t sum = 0;
  parallel_for(1, [&](int64_t) { sum += 7; });
  EXPECT_EQ(sum, 7) << "the next loop is not affected";
}

TEST_F(ParallelFor, HandsOverFromALoopInsideALoop) {
  EXPECT_THROW(parallel_for(10,
                            [](int64_t) {
                              parallel_for(10, [](int64_t i) {
                                if (i == 5) throw Error("inner");
                              });
                            }),
               Error);
}

}  // namespace
}  // namespace bntt
