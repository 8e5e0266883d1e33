#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "bntt/error.h"
#include "bntt/signal.h"

namespace bntt {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

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

TEST(SpikeTrain, RefusesIndicesItHasNot) {
  SpikeTrain train(2, 3, {5, 6, 7}, {1.0F, -1.0F});
  const std::array<int64_t, 6> counts = {2, 2, 3, 6, 7, 5};
  const std::array<const char*, 6> names = {"plane", "step", "image", "row", "column", "channel"};
  for (std::size_t which = 0; which < counts.size(); ++which) {
    for (const int64_t wrong : {int64_t{-1}, counts[which], int64_t{1} << 40}) {
      std::array<int64_t, 6> at = {};
      at[which] = wrong;
      EXPECT_THAT([&] { train.set(at[0], at[1], at[2], at[3], at[4], at[5]); },
                  ThrowsMessage<Error>(HasSubstr(fmt::format("{} is {}", names[which], wrong))));
      if (which == 0) continue;
      EXPECT_THAT([&] { train.value(at[1], at[2], at[3], at[4], at[5]); },
                  ThrowsMessage<Error>(HasSubstr(fmt::format("{} is {}", names[which], wrong))));
    }
  }
  for (const SpikeWord word : train.words()) EXPECT_EQ(word, 0U);
}

TEST(SpikeTrain, RefusesSizesThatNoTrainHas) {
  for (const int64_t wrong : {0, -1}) {
    EXPECT_THROW(SpikeTrain(wrong, 1, {1, 1, 1}), Error);
    EXPECT_THROW(SpikeTrain(1, wrong, {1, 1, 1}), Error);
    EXPECT_THROW(SpikeTrain(1, 1, {wrong, 1, 1}), Error);
    EXPECT_THROW(SpikeTrain(1, 1, {1, wrong, 1}), Error);
    EXPECT_THROW(SpikeTrain(1, 1, {1, 1, wrong}), Error);
  }
  EXPECT_THROW(SpikeTrain(1, 1, {1, 1, 1}, {}), Error);
  constexpr int64_t kLarge = int64_t{1} << 32;
  EXPECT_THROW(SpikeTrain(kLarge, kLarge, {1, 1, 1}), Error) << "the product is 0 in 64 bits";
  EXPECT_THROW(SpikeTrain(1, 1, {std::numeric_limits<int64_t>::max(), 1, 1}), Error);
}

DenseTrain dense_train(int64_t values) {
  return {.steps = 3, .batch = 2, .shape = {4, 1, 1}, .values = Buffer<float>::zeros(values)};
}

TEST(CheckSignal, AcceptsWhatKernelsCanRead) {
  for (const int64_t channels : {1, 63, 64, 65, 128}) {
    SpikeTrain train(2, 3, {channels, 2, 2}, {1.0F, -1.0F});
    for (int64_t channel = 0; channel < channels; ++channel) train.set(1, 1, 2, 1, 1, channel);
    EXPECT_NO_THROW(check_signal(train));
  }
  EXPECT_NO_THROW(check_signal(dense_train(24)));
  DenseTrain constant = dense_train(8);
  constant.constant = true;
  EXPECT_NO_THROW(check_signal(constant));
}

TEST(CheckSignal, RefusesBitsPastTheLastChannel) {
  for (const int64_t channels : {1, 63, 65, 127}) {
    for (const int64_t past : {channels, (channels / 64 + 1) * 64 - 1}) {
      SpikeTrain train(2, 3, {channels, 2, 2});
      train.words()[train.words().size() - 1] |= SpikeWord{1} << (past % 64);
      EXPECT_THAT([&] { check_signal(train); }, ThrowsMessage<Error>(HasSubstr("past its")));
    }
  }
}

TEST(CheckSignal, RefusesSizesThatDisagree) {
  for (const int64_t values : {0, 8, 23, 25}) {
    EXPECT_THAT(
        [&] { check_signal(dense_train(values)); },
        ThrowsMessage<Error>(HasSubstr(fmt::format("holds {} values, expected 24", values))));
  }
  DenseTrain empty = dense_train(0);
  empty.batch = 0;
  EXPECT_THROW(check_signal(empty), Error);
  SpikeTrain train(2, 3, {5, 2, 2});
  train.words() = Buffer<SpikeWord>::zeros(23);
  EXPECT_THAT([&] { check_signal(train); },
              ThrowsMessage<Error>(HasSubstr("holds 23 words, expected 24")));
  EXPECT_THROW(check_signal(SpikeTrain()), Error);
}

TEST(CheckSignal, RefusesWeightsThatAreNotFinite) {
  EXPECT_THROW(check_signal(SpikeTrain(1, 1, {1, 1, 1}, {1.0F, NAN})), Error);
  EXPECT_THROW(check_signal(SpikeTrain(1, 1, {1, 1, 1}, {-INFINITY})), Error);
}

TEST(Signal, RefusesStepsAndImagesItHasNot) {
  for (const Signal& signal : {Signal(SpikeTrain(3, 2, {4, 1, 1})), Signal(dense_train(24))}) {
    EXPECT_THROW(slice_steps(signal, -1, 1), Error);
    EXPECT_THROW(slice_steps(signal, 0, 0), Error);
    EXPECT_THROW(slice_steps(signal, 2, 2), Error);
    EXPECT_THROW(slice_steps(signal, 2, std::numeric_limits<int64_t>::max()), Error);
    EXPECT_THROW(keep_images(signal, std::vector<int64_t>{0, 2}), Error);
    EXPECT_THROW(keep_images(signal, std::vector<int64_t>{-1}), Error);
  }
  EXPECT_THROW(slice_steps(dense_train(23), 0, 1), Error) << "too short for its shape";
  EXPECT_THROW(keep_images(dense_train(23), std::vector<int64_t>{0}), Error);
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
