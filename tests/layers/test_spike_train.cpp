#include <gtest/gtest.h>

#include <bit>

#include "bntt/signal.h"

namespace bntt {
namespace {

TEST(SpikeTrain, StartsSilent) {
  const SpikeTrain train(2, 3, {65, 4, 5});
  EXPECT_EQ(train.words_per_pixel(), 2);
  EXPECT_EQ(train.words_per_frame(), 40);
  EXPECT_EQ(train.words().size(), 2 * 3 * 40);
  for (const SpikeWord word : train.words()) ASSERT_EQ(word, 0U);
}

TEST(SpikeTrain, SetsOneBitAndNoOther) {
  for (const int64_t channels : {1, 63, 64, 65, 130}) {
    SpikeTrain train(2, 3, {channels, 2, 3});
    train.set(0, 1, 2, 1, 2, channels - 1);
    int64_t spikes = 0;
    for (const SpikeWord word : train.words()) spikes += std::popcount(word);
    EXPECT_EQ(spikes, 1);
    EXPECT_EQ(train.value(1, 2, 1, 2, channels - 1), 1.0F);
    EXPECT_EQ(train.value(0, 2, 1, 2, channels - 1), 0.0F);
    EXPECT_EQ(train.value(1, 1, 1, 2, channels - 1), 0.0F);
    EXPECT_EQ(train.value(1, 2, 1, 1, channels - 1), 0.0F);
    // The last channel of the last pixel of the last frame: bit (c mod 64) of the last word.
    EXPECT_EQ(train.words()[train.words().size() - 1], SpikeWord{1} << ((channels - 1) % 64));
  }
}

TEST(SpikeTrain, ValuesAreSumsOfWeightedPlanes) {
  SpikeTrain train(1, 1, {2, 1, 1}, {1.0F, -1.0F, 4.0F});
  train.set(1, 0, 0, 0, 0, 0);
  EXPECT_EQ(train.value(0, 0, 0, 0, 0), -1.0F);
  train.set(2, 0, 0, 0, 0, 0);
  EXPECT_EQ(train.value(0, 0, 0, 0, 0), 3.0F);
  EXPECT_EQ(train.value(0, 0, 0, 0, 1), 0.0F);
}

TEST(SpikeTrainDeathTest, RefusesChannelsItHasNot) {
  SpikeTrain train(1, 1, {3, 1, 1});
  EXPECT_DEATH(train.set(0, 0, 0, 0, 0, 3), "");
}

TEST(Signal, AnswersForBothKinds) {
  const Signal spikes = SpikeTrain(4, 2, {3, 5, 6});
  EXPECT_EQ(signal_steps(spikes), 4);
  EXPECT_EQ(signal_batch(spikes), 2);
  EXPECT_EQ(signal_shape(spikes), (MapShape{3, 5, 6}));
  const Signal dense = DenseTrain{.steps = 7, .batch = 3, .shape = {1, 2, 2}, .constant = true};
  EXPECT_EQ(signal_steps(dense), 7);
  EXPECT_EQ(signal_batch(dense), 3);
  EXPECT_EQ(std::get<DenseTrain>(dense).stored_steps(), 1);
}

TEST(Signal, GivesStepsAndImagesOfSpikes) {
  SpikeTrain train(3, 4, {2, 1, 2}, {1.0F, -1.0F});
  train.set(0, 2, 3, 0, 1, 1);
  train.set(1, 1, 0, 0, 0, 0);
  const auto slice = std::get<SpikeTrain>(slice_steps(train, 1, 2));
  EXPECT_EQ(slice.steps(), 2);
  EXPECT_EQ(slice.value(1, 3, 0, 1, 1), 1.0F);
  EXPECT_EQ(slice.value(0, 0, 0, 0, 0), -1.0F);
  const auto kept = std::get<SpikeTrain>(keep_images(slice, std::vector<int64_t>{3, 0}));
  EXPECT_EQ(kept.batch(), 2);
  EXPECT_EQ(kept.value(1, 0, 0, 1, 1), 1.0F);
  EXPECT_EQ(kept.value(0, 1, 0, 0, 0), -1.0F);
  EXPECT_EQ(kept.value(0, 0, 0, 0, 0), 0.0F);
}

TEST(Signal, GivesStepsAndImagesOfRealValues) {
  for (const bool constant : {false, true}) {
    DenseTrain train{.steps = 3, .batch = 2, .shape = {2, 1, 1}, .constant = constant};
    train.values = Buffer<float>(train.stored_steps() * 4);
    for (int64_t i = 0; i < train.values.size(); ++i) train.values[i] = static_cast<float>(i);
    const auto slice = std::get<DenseTrain>(slice_steps(train, 1, 2));
    EXPECT_EQ(slice.steps, 2);
    EXPECT_EQ(slice.values[0], constant ? 0.0F : 4.0F);
    const auto kept = std::get<DenseTrain>(keep_images(slice, std::vector<int64_t>{1}));
    EXPECT_EQ(kept.batch, 1);
    EXPECT_EQ(kept.values.size(), kept.stored_steps() * 2);
    EXPECT_EQ(kept.values[1], constant ? 3.0F : 7.0F);
  }
}

}  // namespace
}  // namespace bntt
