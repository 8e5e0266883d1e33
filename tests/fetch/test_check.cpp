#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "directory_state.h"
#include "fetch/check.h"
#include "fixtures.h"
#include "sample_files.h"

namespace bntt {
namespace {

using testing::append_big_endian;
using testing::Bytes;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::gzip;
using testing::idx_file;
using ::testing::IsEmpty;
using testing::refusal;
using testing::text_bytes;

class Check : public ::testing::Test {
 protected:
  void write(const std::string& name, std::span<const uint8_t> bytes) const {
    std::filesystem::create_directories((directory_.path() / name).parent_path());
    directory_.write(name, bytes);
  }
  /// "file: problem" for each finding, files relative to the directory.
  std::vector<std::string> findings(const std::string& dataset) const {
    std::vector<std::string> lines;
    for (const Finding& finding : check_dataset(dataset, directory_.path()).findings) {
      lines.push_back(finding.file.lexically_relative(directory_.path()).string() + ": " +
                      finding.problem);
    }
    return lines;
  }

  const testing::TemporaryDirectory directory_;
};

// `records` records of label bytes and black pixels; every class equally often.
Bytes cifar_records(int64_t records, int64_t label_bytes, int64_t classes) {
  Bytes bytes(static_cast<std::size_t>(records * (label_bytes + 3072)));
  for (int64_t i = 0; i < records; ++i) {
    bytes[static_cast<std::size_t>(i * (label_bytes + 3072) + label_bytes - 1)] =
        static_cast<uint8_t>(i % classes);
  }
  return bytes;
}

TEST_F(Check, RefusesUnknownNamesAndPlaces) {
  EXPECT_THAT(refusal([&] { check_dataset("cifar11", directory_.path()); }),
              ::testing::MatchesRegex(
                  "unknown data set 'cifar11', expected one of .*, did you mean 'cifar10'\\?"));
  const std::string missing = (directory_.path() / "missing").string();
  EXPECT_EQ(refusal([&] { check_dataset("cifar10", missing); }),
            "cifar10: " + missing + " is not a directory");
}

TEST_F(Check, KnowsEveryDataSetThatCanBeOpened) {
  for (const std::string& name : dataset_names()) {
    EXPECT_THAT(check_dataset(name, directory_.path()).findings, Not(IsEmpty())) << name;
  }
}

TEST_F(Check, ListsEverythingThatIsWrongWithCifar100) {
  Bytes train = cifar_records(50000, 2, 100);
  write("cifar-100-binary/train.bin", train);
  EXPECT_THAT(findings("cifar100"), ElementsAre("cifar-100-binary/test.bin: cannot be opened: No "
                                                "such file or directory"));

  write("cifar-100-binary/test.bin", cifar_records(10000, 2, 100));
  const CheckReport whole = check_dataset("cifar100", directory_.path());
  EXPECT_THAT(whole.findings, IsEmpty());
  EXPECT_EQ(whole.train_samples, 50000);
  EXPECT_EQ(whole.test_samples, 10000);
  EXPECT_EQ(whole.files, 2);
  EXPECT_EQ(whole.bytes, 60000U * 3074U);
  EXPECT_EQ(whole.checksums, 0);

  train[7 * 3074] = 20;       // a coarse label
  train[9 * 3074 + 1] = 255;  // two fine ones
  train[11 * 3074 + 1] = 100;
  train.pop_back();
  write("cifar-100-binary/train.bin", train);
  EXPECT_THAT(
      findings("cifar100"),
      ElementsAre("cifar-100-binary: has 499 samples of class 9, expected 500",
                  "cifar-100-binary: has 499 samples of class 11, expected 500",
                  "cifar-100-binary: has 499 samples of class 99, expected 500",
                  "cifar-100-binary/train.bin: holds 153699999 bytes, expected 153700000",
                  "cifar-100-binary/train.bin: has 1 label out of range, the first of image 7: 20, "
                  "expected 0 to 19",
                  "cifar-100-binary/train.bin: has 2 labels out of range, the first of image 9: "
                  "255, expected 0 to 99"));
}

TEST_F(Check, ComparesChecksumsOfCifar10) {
  write("test_batch.bin", cifar_records(10000, 1, 10));
  EXPECT_THAT(findings("cifar10"),
              Contains("test_batch.bin: has the md5 607420c8983d196a2514392b00652388, expected "
                       "803d5f7f4d78ea53de84dbe85f74fb6d"));
  EXPECT_EQ(check_dataset("cifar10", directory_.path()).checksums, 1);
  EXPECT_EQ(findings("cifar10").size(), 6U);  // five missing files, one wrong checksum
}

TEST_F(Check, ReadsIdxFilesPlainAndCompressed) {
  Bytes labels(10000);
  labels[3] = 10;
  write("t10k-labels-idx1-ubyte", idx_file({10000}, labels));
  write("t10k-images-idx3-ubyte.gz", gzip(idx_file({2, 28, 28}, Bytes(2 * 784))));
  write("train-images-idx3-ubyte.gz", Bytes{0x1f, 0x8b, 1, 2, 3});
  const std::vector<std::string> found = findings("mnist");
  EXPECT_THAT(found,
              Contains("t10k-labels-idx1-ubyte: has 1 labels out of range, expected 0 to 9"));
  EXPECT_THAT(found,
              Contains("t10k-images-idx3-ubyte.gz: holds 2x28x28 pixels, expected 10000x28x28"));
  EXPECT_THAT(found, Contains(::testing::StartsWith("train-images-idx3-ubyte.gz: ")));
  EXPECT_THAT(found, Contains("train-labels-idx1-ubyte.gz: cannot be opened: No such file or "
                              "directory"));
  EXPECT_THAT(found,
              Contains(::testing::MatchesRegex("t10k-labels-idx1-ubyte: has the md5 .*, expected "
                                               "27ae3e4e09519cfbb04c329615203637")));
}

TEST_F(Check, ParsesEveryRecordingOfNMnist) {
  const Bytes event = {3, 4, 0x80, 0, 9};
  for (int digit = 0; digit < 10; ++digit) {
    write("Train/" + std::to_string(digit) + "/1.bin", event);
    if (digit != 5) write("Test/" + std::to_string(digit) + "/2.bin", event);
  }
  write("Train/3/bad.bin", Bytes{40, 4, 0x80, 0, 9});
  write("Train/3/cut.bin", Bytes{3, 4, 0x80});
  write("Train/3/empty.bin", {});
  EXPECT_THAT(findings("nmnist"),
              ElementsAre("Test: holds 9 recordings, expected 10000",
                          "Test/5: is missing, expected a folder",
                          "Train: holds 13 recordings, expected 60000",
                          "Train/3/bad.bin: has event 0 at x 40, y 4, outside its sensor of 34x34 "
                          "pixels",
                          "Train/3/cut.bin: holds 3 bytes, expected a multiple of 5",
                          "Train/3/empty.bin: holds no events, expected at least one"));
}

TEST_F(Check, RefusesRecordingsOfOtherCamerasAsDvsCifar10) {
  Bytes davis = text_bytes("#!AER-DAT2.0\r\n");
  append_big_endian(200U << 22 | 100U << 12, davis);
  append_big_endian(7, davis);
  write("cat/cifar10_cat_0.aedat", davis);
  EXPECT_THAT(
      findings("dvs-cifar10"),
      Contains("cat/cifar10_cat_0.aedat: has an event with the address 0x32064000, expected "
               "at most 0xffff: its camera is not a DVS128 but a larger one, perhaps a "
               "DAVIS"));
}

TEST_F(Check, ListsDamagedImagesOfAFolder) {
  write("train/cat/1.jpg", Bytes{1, 2, 3});
  write("train/cat/2.png", Bytes{});
  write("train/dog/notes.txt", Bytes{1});
  write("test/cat/3.png", Bytes{1});
  EXPECT_THAT(findings("folder"),
              ElementsAre("test: holds one class folder, 'cat', expected at least two classes",
                          "test: has different class folders from " +
                              (directory_.path() / "train").string(),
                          "test/cat/3.png: is neither a JPEG nor a PNG file",
                          "train/cat/1.jpg: is neither a JPEG nor a PNG file",
                          "train/cat/2.png: is neither a JPEG nor a PNG file",
                          "train/dog: holds no file that ends in .jpeg, .jpg, .png"));
}

TEST_F(Check, AFolderOfOneClassIsAFinding) {
  write("cat/1.jpg", Bytes{1, 2, 3});
  EXPECT_THAT(findings("folder"),
              ElementsAre(".: holds one class folder, 'cat', expected at least two classes",
                          "cat/1.jpg: is neither a JPEG nor a PNG file"));
}

TEST_F(Check, ParsesEveryRecordingOfAnEventFolder) {
  const Bytes event = {3, 4, 0x80, 0, 9};
  for (int i = 0; i < 11; ++i) {
    write("a/" + std::to_string(i) + ".bin", event);
    write("b/" + std::to_string(i) + ".bin", event);
  }
  EXPECT_EQ(findings("event-folder").size(), 22U);
  const CheckReport whole =
      check_dataset("event-folder", directory_.path(), {.sensor = {10, 5}, .progress = {}});
  EXPECT_THAT(whole.findings, IsEmpty());
  EXPECT_EQ(whole.train_samples, 18);
  EXPECT_EQ(whole.test_samples, 4);

  for (const char* name : {"a", "b"}) std::filesystem::remove_all(directory_.path() / name);
  const std::string raw = "% format EVT3;width=10;height=5\n% end\n";
  const auto write_raw = [&](const std::string& name, const Bytes& words) {
    Bytes bytes(raw.begin(), raw.end());
    bytes.insert(bytes.end(), words.begin(), words.end());
    write(name, bytes);
  };
  write_raw("a/cut.raw", {0, 0x80, 0});
  write_raw("a/good.raw", {0, 0x80, 4, 0, 9, 0x28});
  write_raw("b/outside.raw", {0, 0x80, 4, 0, 10, 0x28});
  write_raw("b/empty.raw", {0, 0x80});
  EXPECT_THAT(findings("event-folder"),
              ElementsAre("a/cut.raw: ends in the middle of a word: 1 of 2 bytes at byte 40",
                          "b/empty.raw: holds no events, expected at least one",
                          "b/outside.raw: has event 0 at x 10, y 4, outside its sensor of 10x5 "
                          "pixels"));
  EXPECT_EQ(refusal([&] {
              check_dataset("nmnist", directory_.path(), {.sensor = {34, 34}, .progress = {}});
            }),
            "nmnist: the size of a sensor was given, but only event-folder takes one");
}

TEST_F(Check, ListsMissingPartsOfTinyImageNetAndGestures) {
  const std::string wnids = "n1\nn2\n";
  write("wnids.txt", {reinterpret_cast<const uint8_t*>(wnids.data()), wnids.size()});
  EXPECT_THAT(findings("tiny-imagenet"),
              ElementsAre("train/n1/images: is missing, expected a folder",
                          "train/n2/images: is missing, expected a folder",
                          ::testing::StartsWith("val/val_annotations.txt: cannot be opened"),
                          "wnids.txt: names 2 classes, expected 200"));
  const std::string list = "user01_led.aedat\n";
  write("trials_to_train.txt", {reinterpret_cast<const uint8_t*>(list.data()), list.size()});
  EXPECT_THAT(findings("dvs-gesture"),
              ElementsAre(::testing::StartsWith("trials_to_test.txt: cannot be opened"),
                          ::testing::StartsWith("user01_led.aedat: cannot be opened"),
                          ::testing::StartsWith("user01_led_labels.csv: cannot be opened")));
}

TEST_F(Check, StopsWhenAsked) {
  const CheckReport report = check_dataset("cifar10", directory_.path(),
                                           {.progress = [](int64_t, int64_t) { return true; }});
  EXPECT_TRUE(report.stopped);
}

TEST(CheckRealData, FashionMnistOfDebianIsWhole) {
  const std::filesystem::path directory = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(directory)) {
    GTEST_SKIP() << "the Debian package dataset-fashion-mnist is not installed";
  }
  const CheckReport report = check_dataset("fashion-mnist", directory);
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.checksums, 4);
  EXPECT_EQ(report.train_samples, 60000);
  EXPECT_EQ(report.test_samples, 10000);
}

TEST(CheckRealData, Cifar10IsWhole) {
  const char* directory = std::getenv("BNTT_CIFAR10_DIR");
  if (directory == nullptr) GTEST_SKIP() << "BNTT_CIFAR10_DIR does not name a copy of CIFAR-10";
  const CheckReport report = check_dataset("cifar10", directory);
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.checksums, 6);
}

}  // namespace
}  // namespace bntt
