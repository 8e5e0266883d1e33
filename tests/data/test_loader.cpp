#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "data/loader.h"
#include "fixtures.h"

namespace bntt {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::numbered_images;
using testing::refusal;
using ::testing::UnorderedElementsAreArray;

constexpr MapShape kShape = {3, 6, 5};
constexpr AugmentationSpec kNone = {.pad = 0, .flip = false};

void expect_same(const Batch& a, const Batch& b) {
  EXPECT_EQ(a.sample_ids, b.sample_ids);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_TRUE(std::ranges::equal(a.images, b.images));
}

TEST(Shuffle, IsAPermutationThatSeedAndEpochChange) {
  const std::vector<int64_t> order = shuffled({10, 110}, 1, 2);
  std::vector<int64_t> all(100);
  std::iota(all.begin(), all.end(), 10);
  EXPECT_THAT(order, UnorderedElementsAreArray(all));
  EXPECT_NE(order, all);
  EXPECT_EQ(order, shuffled({10, 110}, 1, 2));
  EXPECT_NE(order, shuffled({10, 110}, 2, 2));
  EXPECT_NE(order, shuffled({10, 110}, 1, 3));
}

TEST(Shuffle, EveryOrderIsAboutEquallyLikely) {
  std::map<std::vector<int64_t>, int> counts;
  constexpr int kEpochs = 6000;
  for (uint32_t epoch = 0; epoch < kEpochs; ++epoch) ++counts[shuffled({0, 3}, 5, epoch)];
  ASSERT_EQ(counts.size(), 6U);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 145);  // 5 deviations
}

TEST(TrainLoader, EpochsHoldWholeBatchesOfDistinctSamples) {
  const ImageSet images = numbered_images(25, kShape);
  TrainLoader loader(images, {2, 25}, {.batch = 5, .seed = 3, .augmentation = kNone});
  ASSERT_EQ(loader.batches_per_epoch(), 4);
  for (uint32_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<uint32_t> seen;
    for (int64_t index = 0; index < 4; ++index) {
      const Batch batch = loader.next();
      ASSERT_EQ(batch.size(), 5);
      EXPECT_EQ(batch.shape, kShape);
      for (int64_t i = 0; i < 5; ++i) {
        const uint32_t id = batch.sample_ids[i];
        seen.push_back(id);
        EXPECT_EQ(batch.labels[i], id % 10);
        EXPECT_EQ(batch.images[i * kShape.size()], static_cast<float>(id) / 255.0F);
      }
    }
    const std::vector<int64_t> order = shuffled({2, 25}, 3, epoch);
    EXPECT_TRUE(std::equal(seen.begin(), seen.end(), order.begin()));
    EXPECT_EQ(seen.size(), 20U);
  }
}

TEST(TrainLoader, StartsAnywhereWithTheSameBatches) {
  const ImageSet images = numbered_images(23, kShape);
  const TrainLoaderOptions options = {.batch = 4, .seed = 9, .augmentation = {.pad = 2}};
  TrainLoader whole(images, {0, 23}, options);
  std::vector<Batch> batches;
  for (int i = 0; i < 15; ++i) batches.push_back(whole.next());
  for (const LoaderPosition start : {LoaderPosition{0, 3}, {0, 5}, {1, 0}, {1, 4}}) {
    TrainLoader resumed(images, {0, 23}, options, start);
    for (std::size_t i = start.epoch * 5 + start.batch; i < 15; ++i) {
      expect_same(resumed.next(), batches[i]);
    }
  }
}

TEST(TrainLoader, PrefetchDepthChangesNothing) {
  const ImageSet images = numbered_images(40, kShape);
  TrainLoader shallow(images, {0, 40}, {.batch = 4, .prefetch = 1});
  TrainLoader deep(images, {0, 40}, {.batch = 4, .prefetch = 8});
  for (int i = 0; i < 30; ++i) expect_same(shallow.next(), deep.next());
}

TEST(TrainLoader, AugmentsEachSampleByItsOwnDraw) {
  const ImageSet images = numbered_images(12, kShape);
  TrainLoader loader(images, {0, 12}, {.batch = 12, .seed = 4, .augmentation = {.pad = 2}});
  bool changed = false;
  for (uint32_t epoch = 0; epoch < 2; ++epoch) {
    const Batch batch = loader.next();
    for (int64_t i = 0; i < 12; ++i) {
      const uint32_t id = batch.sample_ids[i];
      std::vector<float> expected(kShape.size());
      const CropFlip crop = draw_crop_flip({.pad = 2}, kShape, 4, epoch, id);
      crop_flip(images.image(id), kShape, crop, expected.data());
      changed = changed || crop.flip || crop.top != 0 || crop.left != 0;
      EXPECT_TRUE(
          std::equal(expected.begin(), expected.end(), batch.images.data() + i * kShape.size()));
    }
  }
  EXPECT_TRUE(changed);
}

TEST(TrainLoader, StopsWithItsQueueFullOrUntouched) {
  const ImageSet images = numbered_images(64, kShape);
  for (int i = 0; i < 50; ++i) {
    TrainLoader loader(images, {0, 64}, {.batch = 8});
    if (i % 2 == 0) loader.next();
  }
}

TEST(TrainLoader, RefusesImpossibleBatches) {
  const ImageSet images = numbered_images(10, kShape);
  EXPECT_EQ(refusal([&] {
              TrainLoader(images, {0, 9}, {.batch = 10});
            }),
            "there are 9 training images, expected at least one batch of 10");
  EXPECT_EQ(refusal([&] {
              TrainLoader(images, {0, 9}, {.batch = 0});
            }),
            "the batch size is 0, expected at least 1");
  EXPECT_EQ(refusal([&] {
              TrainLoader(images, {0, 9}, {.batch = 3, .augmentation = {.pad = 6}});
            }),
            "the augmentation pads by 6 pixels, expected 0 to 5 for images of 6x5");
}

TEST(EvalLoader, CountsEveryImageInFileOrder) {
  ImageSet images = numbered_images(11, kShape);
  images.first_id = kFirstTestId;
  const EvalLoader loader(images, 4);
  ASSERT_EQ(loader.batches(), 3);
  EXPECT_THAT(loader.batch(0).sample_ids,
              ElementsAre(kFirstTestId, kFirstTestId + 1, kFirstTestId + 2, kFirstTestId + 3));
  const Batch last = loader.batch(2);
  EXPECT_THAT(last.labels, ElementsAre(8, 9, 0));
  ASSERT_EQ(last.images.size(), 3 * kShape.size());
  for (int64_t i = 0; i < last.images.size(); ++i) {
    EXPECT_EQ(last.images[i], static_cast<float>(images.image(8)[i]) / 255.0F);
  }
}

TEST(EvalLoader, ValidationKeepsTheIdsOfTheTrainingOrder) {
  const ImageSet images = numbered_images(20, kShape);
  const Split split = split_training(20);
  const EvalLoader loader(images, split.validation, 8);
  ASSERT_EQ(loader.batches(), 1);
  EXPECT_THAT(loader.batch(0).sample_ids, ElementsAre(18, 19));
}

}  // namespace
}  // namespace bntt
