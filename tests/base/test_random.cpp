#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace bntt {
namespace {

using Draw = std::array<uint32_t, 4>;

constexpr std::array kPurposes = {Purpose::weights,  Purpose::shuffle, Purpose::augmentation,
                                  Purpose::encoding, Purpose::attack,  Purpose::calibration,
                                  Purpose::dropout};

// Runs that exist must be repeatable: these numbers may never change.
TEST(Random, SeedsBelow2To56KeepTheirStreams) {
  EXPECT_EQ(draw4(1, Purpose::weights, {}),
            (Draw{0x3995bf09U, 0x7f77cb5eU, 0xd6c25622U, 0x5446138dU}));
  EXPECT_EQ(draw4(42, Purpose::shuffle, {.epoch = 1, .sample = 2, .step = 3, .block = 4}),
            (Draw{0xe6b1b1dfU, 0x393e3750U, 0xb506673fU, 0x8bc6ab28U}));
  EXPECT_EQ(draw4(0xffffffffU, Purpose::encoding,
                  {.epoch = 0xffffffffU, .sample = 7, .step = 8, .block = 9}),
            (Draw{0x6130c345U, 0xf237eb19U, 0x0115748fU, 0x30d85b62U}));
  EXPECT_EQ(draw4((uint64_t{1} << 56) - 1, Purpose::calibration,
                  {.epoch = 5, .sample = 6, .step = 7, .block = 8}),
            (Draw{0x5d14179fU, 0xd5c5734bU, 0x18cafd12U, 0x09a79cc8U}));
}

TEST(Random, NoTwoSeedsAndPurposesShareAStream) {
  std::set<Draw> draws;
  std::size_t streams = 0;
  for (uint64_t top = 0; top < 256; ++top) {
    for (const uint64_t rest : {uint64_t{0}, uint64_t{1}, uint64_t{0xffffffffffffff}}) {
      for (const Purpose purpose : kPurposes) {
        draws.insert(draw4(top << 56 | rest, purpose, {.epoch = 3, .sample = 5}));
        ++streams;
      }
    }
  }
  EXPECT_EQ(draws.size(), streams);
}

TEST(Random, EveryPartOfThePlaceCountsForLargeSeedsToo) {
  for (const uint64_t seed : {uint64_t{1}, uint64_t{1} << 63}) {
    const std::set<Draw> draws = {
        draw4(seed, Purpose::encoding, {}), draw4(seed, Purpose::encoding, {.epoch = 1}),
        draw4(seed, Purpose::encoding, {.sample = 1}), draw4(seed, Purpose::encoding, {.step = 1}),
        draw4(seed, Purpose::encoding, {.block = 1})};
    EXPECT_EQ(draws.size(), 5U);
  }
}

}  // namespace
}  // namespace bntt
