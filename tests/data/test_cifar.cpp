#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "data/cifar.h"
#include "sample_files.h"

namespace bntt {
namespace {

using testing::Bytes;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::refusal;
using testing::TemporaryDirectory;

constexpr std::size_t kRecord = 3073;

// Red, green and blue of pixel p are p, p + 1 and p + 2 (mod 256), plus the label.
Bytes records(const std::vector<uint8_t>& labels) {
  Bytes bytes;
  for (const uint8_t label : labels) {
    bytes.push_back(label);
    for (int channel = 0; channel < 3; ++channel) {
      for (int pixel = 0; pixel < 1024; ++pixel) {
        bytes.push_back(static_cast<uint8_t>(pixel + channel + label));
      }
    }
  }
  return bytes;
}

TEST(Cifar10, InterleavesTheColourPlanes) {
  CifarRecords read;
  append_cifar(records({3}), 1, cifar10_format(), "file", read);
  append_cifar(records({9, 0}), 2, cifar10_format(), "file", read);
  EXPECT_THAT(read.labels, ElementsAre(3, 9, 0));
  ASSERT_EQ(read.pixels.size(), 3 * 3072U);
  for (int64_t i = 0; i < 3 * 3072; ++i) {
    const int64_t within = i % 3072;
    ASSERT_EQ(read.pixels[i],
              static_cast<uint8_t>(within / 3 + within % 3 + read.labels[i / 3072]));
  }
}

TEST(Cifar10, RefusesAnotherSizeAndLabelsOutOfRange) {
  CifarRecords read;
  Bytes bytes = records({0, 1});
  const auto refused = [&] {
    return refusal([&] { append_cifar(bytes, 2, cifar10_format(), "file", read); });
  };
  bytes.pop_back();
  EXPECT_EQ(refused(), "file holds 6145 bytes, expected 6146");
  bytes.resize(6147);
  EXPECT_EQ(refused(), "file holds 6147 bytes, expected 6146");
  bytes = records({0, 10});
  EXPECT_EQ(refused(), "file gives image 1 the label 10, expected 0 to 9");
}

TEST(Cifar100, HasCoarseAndFineLabels) {
  Bytes bytes = {19, 99};
  bytes.resize(2 + 3072, 7);
  CifarRecords fine;
  append_cifar(bytes, 1, cifar100_format(Labels::fine), "file", fine);
  EXPECT_THAT(fine.labels, ElementsAre(99));
  EXPECT_THAT(fine.pixels, Each(7));
  CifarRecords coarse;
  append_cifar(bytes, 1, cifar100_format(Labels::coarse), "file", coarse);
  EXPECT_THAT(coarse.labels, ElementsAre(19));
  bytes[0] = 20;
  EXPECT_EQ(
      refusal([&] { append_cifar(bytes, 1, cifar100_format(Labels::coarse), "file", coarse); }),
      "file gives image 0 the label 20, expected 0 to 19");
}

TEST(Cifar100, ReadsTheTestFileAndItsNames) {
  const TemporaryDirectory directory;
  Bytes bytes(10000 * std::size_t{3074});
  bytes[3074 + 1] = 42;
  directory.write("cifar-100-binary/test.bin", bytes);
  std::string names;
  for (int i = 0; i < 100; ++i) names += "name " + std::to_string(i) + "\n";
  directory.write("cifar-100-binary/fine_label_names.txt", testing::text_bytes(names));
  const DatasetSplits splits =
      open_dataset("cifar100", directory.path(), {.need_train = false, .limit_test = 2});
  EXPECT_THAT(splits.test.labels, ElementsAre(0, 42));
  EXPECT_EQ(splits.test.classes, 100);
  EXPECT_EQ(splits.test.class_names.at(42), "name 42");
  directory.write("cifar-100-binary/fine_label_names.txt", testing::text_bytes("apple\n"));
  EXPECT_THAT(refusal([&] { open_dataset("cifar100", directory.path(), {.need_train = false}); }),
              ::testing::EndsWith("fine_label_names.txt holds 1 names, expected 100"));
}

TEST(Cifar10, ReadsTestFileFromDirectoryOrFromTheOneInside) {
  const TemporaryDirectory outer;
  const auto inner = outer.path() / "cifar-10-batches-bin";
  std::filesystem::create_directory(inner);
  outer.write("cifar-10-batches-bin/test_batch.bin", records(std::vector<uint8_t>(10000, 4)));
  for (const auto& directory : {outer.path(), inner}) {
    const DatasetSplits splits =
        open_dataset("cifar10", directory, {.need_train = false, .limit_test = 20});
    EXPECT_EQ(splits.train.size(), 0);
    EXPECT_EQ(splits.train.shape, (MapShape{3, 32, 32}));
    EXPECT_EQ(splits.test.size(), 20);
    EXPECT_THAT(splits.test.labels, Each(4));
    EXPECT_EQ(splits.test.class_names.at(4), "deer");
  }
  EXPECT_EQ(refusal([&] { open_dataset("cifar10", inner); }),
            "cifar10: " + (inner / "data_batch_1.bin").string() +
                " cannot be read: No such file or directory");
}

TEST(Cifar10, RefusesTruncatedAndOversizedFiles) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "test_batch.bin";
  for (const uint64_t size : {10000 * kRecord - 1, 10000 * kRecord + 1, uint64_t{1} << 40}) {
    directory.write("test_batch.bin", {});
    std::filesystem::resize_file(path, size);  // sparse
    EXPECT_EQ(refusal([&] { open_dataset("cifar10", directory.path(), {.need_train = false}); }),
              "cifar10: " + path.string() + " holds " + std::to_string(size) +
                  " bytes, expected 30730000");
  }
}

TEST(Cifar10, TheRealFilesAreWhole) {
  const char* directory = std::getenv("BNTT_CIFAR10_DIR");
  if (directory == nullptr) GTEST_SKIP() << "BNTT_CIFAR10_DIR does not name a copy of CIFAR-10";
  const DatasetSplits splits = open_dataset("cifar10", directory);
  EXPECT_EQ(splits.train.size(), 50000);
  EXPECT_EQ(splits.test.size(), 10000);
  std::vector<int64_t> counts(10);
  for (const int64_t label : splits.train.labels) ++counts[label];
  EXPECT_THAT(counts, Each(5000));

  for (int64_t channel = 0; channel < 3; ++channel) {
    double mean_sum = 0.0;
    double deviation_sum = 0.0;
    for (int64_t image = 0; image < splits.train.size(); ++image) {
      double sum = 0.0;
      double squares = 0.0;
      for (int64_t pixel = 0; pixel < 1024; ++pixel) {
        const double value = splits.train.image(image)[pixel * 3 + channel] / 255.0;
        sum += value;
        squares += value * value;
      }
      mean_sum += sum / 1024;
      deviation_sum += std::sqrt(squares / 1024 - sum / 1024 * sum / 1024);
    }
    EXPECT_NEAR(mean_sum / 50000, splits.normalisation.mean[channel], 1e-4);
    EXPECT_NEAR(deviation_sum / 50000, splits.normalisation.deviation[channel], 2e-4);
  }
}

}  // namespace
}  // namespace bntt
