#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fixtures.h"

namespace bntt {
namespace {

using testing::Bytes;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::gzip;
using testing::idx_file;
using testing::refusal;
using testing::TemporaryDirectory;

class TinyMnist : public ::testing::Test {
 protected:
  TinyMnist() {
    directory_.write("train-images-idx3-ubyte.gz",
                     gzip(idx_file({3, 1, 2}, {10, 11, 20, 21, 30, 31})));
    directory_.write("train-labels-idx1-ubyte", idx_file({3}, {7, 8, 9}));
    directory_.write("t10k-images-idx3-ubyte", idx_file({2, 1, 2}, {40, 41, 50, 51}));
    directory_.write("t10k-labels-idx1-ubyte.gz", gzip(idx_file({2}, {0, 1})));
  }
  DatasetSplits open(const DatasetOptions& options = {}) const {
    return open_dataset("fashion-mnist", directory_.path(), options);
  }
  std::string refused() const {
    return refusal([&] { open(); });
  }
  std::string file(const std::string& name) const { return (directory_.path() / name).string(); }

  TemporaryDirectory directory_;
};

TEST_F(TinyMnist, ReadsAllFourFiles) {
  const DatasetSplits splits = open();
  EXPECT_EQ(splits.train.shape, (MapShape{1, 1, 2}));
  EXPECT_EQ(splits.train.classes, 10);
  EXPECT_EQ(splits.train.class_names.at(9), "ankle boot");
  EXPECT_THAT(splits.train.labels, ElementsAre(7, 8, 9));
  EXPECT_THAT(splits.train.pixels, ElementsAre(10, 11, 20, 21, 30, 31));
  EXPECT_THAT(splits.test.labels, ElementsAre(0, 1));
  EXPECT_EQ(splits.train.first_id, 0U);
  EXPECT_EQ(splits.test.first_id, kFirstTestId);
  EXPECT_THAT(splits.normalisation.mean, ElementsAre(0.2860F));
  EXPECT_THAT(splits.normalisation.deviation, ElementsAre(0.3530F));
}

TEST_F(TinyMnist, LimitsKeepTheFirstImages) {
  const DatasetSplits splits = open({.limit_train = 2, .limit_test = 5});
  EXPECT_THAT(splits.train.labels, ElementsAre(7, 8));
  EXPECT_THAT(splits.train.pixels, ElementsAre(10, 11, 20, 21));
  EXPECT_EQ(splits.test.size(), 2);
  EXPECT_EQ(refusal([&] { open({.limit_test = -1}); }),
            "fashion-mnist: the image limit is -1, expected 0 (all) or more");
}

TEST_F(TinyMnist, ReadsOnlyWhatIsNeeded) {
  directory_.write("train-labels-idx1-ubyte", Bytes{});
  const DatasetSplits splits = open({.need_train = false});
  EXPECT_EQ(splits.train.size(), 0);
  EXPECT_EQ(splits.train.shape, (MapShape{1, 1, 2}));
  EXPECT_EQ(splits.train.classes, 10);
  EXPECT_EQ(splits.test.size(), 2);
}

TEST_F(TinyMnist, RefusesAnotherCountOfLabels) {
  directory_.write("train-labels-idx1-ubyte", idx_file({2}, {7, 8}));
  EXPECT_EQ(refused(), "fashion-mnist: " + file("train-labels-idx1-ubyte") +
                           " holds 2 labels, expected 3, one for each image of "
                           "train-images-idx3-ubyte");
}

TEST_F(TinyMnist, RefusesLabelsOutOfRange) {
  directory_.write("train-labels-idx1-ubyte", idx_file({3}, {7, 10, 9}));
  EXPECT_EQ(refused(), "fashion-mnist: " + file("train-labels-idx1-ubyte") +
                           " gives image 1 the label 10, expected 0 to 9");
}

TEST_F(TinyMnist, RefusesDifferentSizesInTrainingAndTest) {
  directory_.write("t10k-images-idx3-ubyte", idx_file({2, 2, 1}, {40, 41, 50, 51}));
  EXPECT_EQ(refused(), "fashion-mnist: " + directory_.path().string() +
                           " has test images of 2x1 pixels, expected 1x2 as in training");
}

TEST_F(TinyMnist, RefusesHugeImages) {
  directory_.write("train-images-idx3-ubyte", idx_file({3, 1, 1025}, Bytes(3 * 1025)));
  EXPECT_EQ(refused(), "fashion-mnist: " + file("train-images-idx3-ubyte") +
                           " holds images of 1x1025 pixels, expected at most 1024x1024");
}

TEST_F(TinyMnist, MnistIsTheSameFilesWithItsOwnStatistics) {
  const DatasetSplits splits = open_dataset("mnist", directory_.path());
  EXPECT_EQ(splits.train.size(), 3);
  EXPECT_EQ(splits.train.class_names.at(3), "3");
  EXPECT_THAT(splits.normalisation.mean, ElementsAre(0.1307F));
  EXPECT_THAT(splits.normalisation.deviation, ElementsAre(0.3081F));
}

TEST(FashionMnist, TheDebianPackageIsWhole) {
  if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist")) {
    GTEST_SKIP() << "the Debian package dataset-fashion-mnist is not installed";
  }
  const DatasetSplits splits = open_dataset("fashion-mnist", {});
  EXPECT_EQ(splits.train.shape, (MapShape{1, 28, 28}));
  EXPECT_EQ(splits.train.size(), 60000);
  EXPECT_EQ(splits.test.size(), 10000);
  std::vector<int64_t> train_counts(10);
  std::vector<int64_t> test_counts(10);
  for (const int64_t label : splits.train.labels) ++train_counts[label];
  for (const int64_t label : splits.test.labels) ++test_counts[label];
  EXPECT_THAT(train_counts, Each(6000));
  EXPECT_THAT(test_counts, Each(1000));

  double sum = 0.0;
  double squares = 0.0;
  for (const uint8_t byte : splits.train.pixels) {
    sum += byte / 255.0;
    squares += (byte / 255.0) * (byte / 255.0);
  }
  const auto count = static_cast<double>(splits.train.pixels.size());
  const double mean = sum / count;
  EXPECT_NEAR(mean, splits.normalisation.mean[0], 1e-4);
  EXPECT_NEAR(std::sqrt(squares / count - mean * mean), splits.normalisation.deviation[0], 1e-4);
}

}  // namespace
}  // namespace bntt
