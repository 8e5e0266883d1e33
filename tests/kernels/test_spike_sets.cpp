#include <gtest/gtest.h>

#include "guarded.h"

namespace bntt::kernels {
namespace {

using testing::EverySet;
using testing::Guarded;
using testing::Numbers;

enum class Fill { empty, full, random };

std::vector<SpikeWord> words_of(const MapShape& shape, Fill fill, Numbers& numbers) {
  const int64_t words = (shape.channels + kSpikesPerWord - 1) / kSpikesPerWord;
  std::vector<SpikeWord> result;
  for (int64_t i = 0; i < shape.pixels() * words; ++i) {
    const int64_t in_word = std::min(kSpikesPerWord, shape.channels - i % words * kSpikesPerWord);
    const SpikeWord valid = ~SpikeWord{0} >> (kSpikesPerWord - in_word);
    const SpikeWord random = (static_cast<SpikeWord>(numbers.bits()) << 32) | numbers.bits();
    result.push_back(fill == Fill::empty ? 0 : fill == Fill::full ? valid : random & valid);
  }
  return result;
}

class SpikesOfEverySet : public EverySet {};
INSTANTIATE_TEST_SUITE_P(Sets, SpikesOfEverySet, ::testing::ValuesIn(kernel_sets()),
                         testing::set_name);

TEST_P(SpikesOfEverySet, AddUpToTheReferencesBits) {
  Numbers numbers(3);
  for (const int64_t channels : {1, 3, 7, 8, 9, 16, 63, 64, 65, 130}) {
    for (const MapShape& shape :
         {MapShape{channels, 1, 1}, MapShape{channels, 5, 3}, MapShape{channels, 6, 7}}) {
      for (const auto& [pool_height, pool_width] :
           {std::pair{1, 1}, std::pair{2, 2}, std::pair{3, 3}, std::pair{2, 3}, std::pair{5, 1}}) {
        const PooledMap map{shape, std::min<int64_t>(pool_height, shape.height),
                            std::min<int64_t>(pool_width, shape.width)};
        for (const Fill fill : {Fill::empty, Fill::full, Fill::random}) {
          SCOPED_TRACE(::testing::Message()
                       << channels << "x" << shape.height << "x" << shape.width << " pool "
                       << map.pool_height << "x" << map.pool_width);
          const auto words = words_of(shape, fill, numbers);
          const auto before = numbers.vector(map.pooled().size());
          Guarded<float> ours(before);
          Guarded<float> expected(before);
          set().add_spikes(map, words.data(), -1.5F, ours.data());
          reference_.add_spikes(map, words.data(), -1.5F, expected.data());
          EXPECT_TRUE(ours.same_bits(expected));
          EXPECT_TRUE(ours.guards_intact());
        }
      }
    }
  }
}

TEST_P(SpikesOfEverySet, ArePooledByTheirWindow) {
  // 3x3 map with pool 2: one pooled pixel, and the rest is dropped.
  const PooledMap map{{2, 3, 3}, 2, 2};
  std::vector<SpikeWord> words(9, 0);
  words[0] = 0b11;
  words[4] = 0b01;
  words[8] = 0b11;  // dropped
  Guarded<float> pooled(2);
  set().add_spikes(map, words.data(), 1.0F, pooled.data());
  EXPECT_EQ(pooled.data()[0], 0.5F);
  EXPECT_EQ(pooled.data()[1], 0.25F);
}

TEST_P(SpikesOfEverySet, AreAddedByASum) {
  const PooledMap map{{2, 3, 3}, 2, 2, PoolKind::sum};
  std::vector<SpikeWord> words(9, 0);
  words[0] = 0b11;
  words[4] = 0b01;
  words[8] = 0b11;  // dropped
  Guarded<float> pooled(2);
  set().add_spikes(map, words.data(), 1.0F, pooled.data());
  EXPECT_EQ(pooled.data()[0], 2.0F);
  EXPECT_EQ(pooled.data()[1], 1.0F);
}

TEST(Pools, SumsAreNotScaled) {
  const PooledMap map{{1, 2, 3}, 2, 2, PoolKind::sum};
  const std::vector<float> source = {1, 2, 100, 3, 4, 100};
  Guarded<float> pooled(1);
  pool_frame(map, source.data(), pooled.data());
  EXPECT_EQ(pooled.data()[0], 10.0F);
  Guarded<float> spread(6, 99.0F);
  unpool_frame(map, pooled.data(), spread.data());
  const std::vector<float> expected = {10, 10, 0, 10, 10, 0};
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), spread.data()));
}

TEST(Pools, UnpoolIsTheTransposeOfPool) {
  Numbers numbers(9);
  for (const PooledMap& map :
       {PooledMap{{3, 5, 7}, 2, 2}, PooledMap{{3, 5, 7}, 5, 7}, PooledMap{{1, 4, 4}, 1, 1},
        PooledMap{{2, 7, 4}, 3, 2}, PooledMap{{2, 7, 4}, 3, 2, PoolKind::sum}}) {
    const auto source = numbers.vector(map.source.size());
    const auto gradient = numbers.vector(map.pooled().size());
    Guarded<float> pooled(map.pooled().size());
    Guarded<float> spread(map.source.size());
    pool_frame(map, source.data(), pooled.data());
    unpool_frame(map, gradient.data(), spread.data());
    double forward = 0.0;
    double backward = 0.0;
    for (int64_t i = 0; i < pooled.size(); ++i) forward += pooled.data()[i] * gradient[i];
    for (int64_t i = 0; i < spread.size(); ++i) backward += spread.data()[i] * source[i];
    EXPECT_NEAR(forward, backward, 1e-5);
    EXPECT_TRUE(pooled.guards_intact() && spread.guards_intact());
  }
}

TEST_P(SpikesOfEverySet, AreCountedBitByBit) {
  const std::vector<SpikeWord> words = {0, ~SpikeWord{0}, 0b1011};
  EXPECT_EQ(GetParam().count_spikes(words.data(), 3), 67);
  EXPECT_EQ(GetParam().count_spikes(words.data(), 0), 0);
}

}  // namespace
}  // namespace bntt::kernels
