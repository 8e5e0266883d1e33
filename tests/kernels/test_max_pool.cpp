#include <gtest/gtest.h>

#include "guarded.h"
#include "kernels/max_pool.h"

namespace bntt::kernels {
namespace {

using testing::Guarded;

template <typename T>
std::vector<T> values_of(const Guarded<T>& guarded) {
  EXPECT_TRUE(guarded.guards_intact());
  return {guarded.data(), guarded.data() + guarded.size()};
}

// 2x5 pixels and windows of 2x2: two pooled pixels; the last column is dropped.
const PooledMap kMap{{2, 2, 5}, 2, 2, PoolKind::max};

const std::vector<SpikeWord> kSpikes = {0b00, 0b01, 0b00, 0b10, 0b11,   //
                                        0b00, 0b01, 0b00, 0b10, 0b11};  // [y, x]

TEST(MaxPool, SpikesWhereAnyPixelOfTheWindowDoes) {
  Guarded<SpikeWord> pooled(2, 99);
  max_pool_spikes(kMap, kSpikes.data(), pooled.data());
  EXPECT_EQ(values_of(pooled), (std::vector<SpikeWord>{0b01, 0b10}));
}

TEST(MaxPool, GivesTheGradientToTheFirstSpikeOrTheFirstPixel) {
  const std::vector<float> gradient = {1, 2, 3, 4};  // [x, channel]
  Guarded<float> spread(kMap.source.size(), 99.0F);
  max_unpool_spikes(kMap, kSpikes.data(), gradient.data(), spread.data());
  const std::vector<float> expected = {0, 2, 1, 0, 3, 0, 0, 4, 0, 0,   //
                                       0, 0, 0, 0, 0, 0, 0, 0, 0, 0};  // [y, x, channel]
  EXPECT_EQ(values_of(spread), expected);
}

TEST(MaxPool, FindsSpikesOfLaterRows) {
  const PooledMap map{{1, 3, 2}, 3, 2, PoolKind::max};
  const std::vector<SpikeWord> spikes = {0, 0, 0, 1, 1, 0};
  const std::vector<float> gradient = {-2.5F};
  Guarded<SpikeWord> pooled(1);
  max_pool_spikes(map, spikes.data(), pooled.data());
  EXPECT_EQ(values_of(pooled), (std::vector<SpikeWord>{1}));
  Guarded<float> spread(6, 99.0F);
  max_unpool_spikes(map, spikes.data(), gradient.data(), spread.data());
  EXPECT_EQ(values_of(spread), (std::vector<float>{0, 0, 0, -2.5F, 0, 0}));
}

TEST(MaxPool, TakesTheLargestValue) {
  const std::vector<float> values = {-3, 1, -1, 5, 0, 7,  2, 7, 100, 100,   //
                                     -1, 4, -2, 5, 2, -7, 1, 6, 100, 100};  // [y, x, channel]
  Guarded<float> pooled(4, 99.0F);
  max_pool_frame(kMap, values.data(), pooled.data());
  EXPECT_EQ(values_of(pooled), (std::vector<float>{-1, 5, 2, 7}));

  // Equal maxima: the first in the order of rows has the gradient.
  const std::vector<float> gradient = {1, 2, 3, 4};
  Guarded<float> spread(kMap.source.size(), 99.0F);
  max_unpool_frame(kMap, values.data(), gradient.data(), spread.data());
  const std::vector<float> expected = {0, 0, 1, 2, 0, 4, 3, 0, 0, 0,  //
                                       0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(values_of(spread), expected);
}

TEST(MaxPool, OfSpikesIsThatOfTheirValues) {
  testing::Numbers numbers(5);
  for (const int64_t channels : {1, 3, 64, 70, 130}) {
    const PooledMap map{{channels, 7, 5}, 2, 3, PoolKind::max};
    const int64_t words = (channels + kSpikesPerWord - 1) / kSpikesPerWord;
    std::vector<SpikeWord> spikes(static_cast<std::size_t>(map.source.pixels() * words));
    std::vector<float> values(static_cast<std::size_t>(map.source.size()));
    for (int64_t i = 0; i < map.source.size(); ++i) {
      if (numbers.uniform() > 0.2F) continue;
      values[i] = 1.0F;
      const int64_t channel = i % channels;
      spikes[i / channels * words + channel / kSpikesPerWord] |= SpikeWord{1}
                                                                 << (channel % kSpikesPerWord);
    }
    const auto gradient = numbers.vector(map.pooled().size());

    Guarded<float> pooled(map.pooled().size());
    max_pool_frame(map, values.data(), pooled.data());
    Guarded<SpikeWord> pooled_spikes(map.pooled().pixels() * words, 99);
    max_pool_spikes(map, spikes.data(), pooled_spikes.data());
    Guarded<float> unpacked(map.pooled().size());
    kernels().add_spikes({map.pooled()}, pooled_spikes.data(), 1.0F, unpacked.data());
    EXPECT_EQ(values_of(unpacked), values_of(pooled));

    Guarded<float> spread(map.source.size(), 99.0F);
    max_unpool_spikes(map, spikes.data(), gradient.data(), spread.data());
    Guarded<float> expected(map.source.size(), 99.0F);
    max_unpool_frame(map, values.data(), gradient.data(), expected.data());
    EXPECT_EQ(values_of(spread), values_of(expected));
  }
}

}  // namespace
}  // namespace bntt::kernels
