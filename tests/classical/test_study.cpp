#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bntt/threads.h"
#include "classical/methods.h"
#include "sample_files.h"
#include "shared_data.h"
#include "some_events.h"

namespace bntt {
namespace {

using testing::append_nmnist;
using testing::Bytes;
using ::testing::HasSubstr;
using testing::refusal;
using testing::TemporaryDirectory;

/// N-MNIST's layout, each digit a bar of events that moves to a place of its own.
class Studies : public ::testing::Test {
 protected:
  Studies() {
    for (int digit = 0; digit < 10; ++digit) {
      for (int i = 0; i < 7; ++i) {
        directory_.write("Train/" + std::to_string(digit) + "/" + std::to_string(i) + ".bin",
                         bar(digit, i));
      }
      for (int i = 10; i < 12; ++i) {
        directory_.write("Test/" + std::to_string(digit) + "/" + std::to_string(i) + ".bin",
                         bar(digit, i));
      }
    }
  }
  void TearDown() override { set_threads(0); }

  static Bytes bar(int digit, int sample) {
    Bytes bytes;
    for (int k = 0; k < 600; ++k) {
      const auto bits =
          draw4(static_cast<uint64_t>(sample), Purpose::shuffle,
                {.sample = static_cast<uint32_t>(digit), .step = static_cast<uint32_t>(k)});
      const int along = static_cast<int>(uniform_below(bits[0], 12));
      const int across = static_cast<int>(uniform_below(bits[1], 2));
      const bool upright = digit % 2 == 0;
      append_nmnist((digit / 2) * 6 + (upright ? across : along / 2),
                    (digit / 2) * 3 + (upright ? along : across), bits[2] % 2 == 0,
                    static_cast<uint32_t>(100 * k + sample), bytes);
    }
    return bytes;
  }
  ClassicalConfig config(const std::string& method) const {
    ClassicalConfig wanted = classical_defaults(method, "nmnist");
    wanted.data.dir = directory_.path().string();
    wanted.hots.prototypes = {3, 4};
    wanted.hots.radius = {1, 2};
    wanted.hots.tau_us = {1e4, 1e5};
    wanted.hfirst.noise_us = 0;
    return wanted;
  }

  TemporaryDirectory directory_;
};

bool go_on(const std::string&, int64_t, int64_t) { return false; }

TEST_F(Studies, EveryMethodGivesTheSameBitsOnOneAndTwoThreads) {
  for (const std::string& method : classical_method_names()) {
    set_threads(1);
    const auto one = study_classical(config(method), go_on);
    set_threads(2);
    const auto two = study_classical(config(method), go_on);
    ASSERT_TRUE(one && two);
    EXPECT_EQ(to_json(one->result).dump(), to_json(two->result).dump()) << method;
    EXPECT_EQ(one->predictions, two->predictions) << method;
    EXPECT_EQ(one->result.data.train, 63) << method;
    EXPECT_EQ(one->result.data.validation, 7) << method;
    EXPECT_EQ(one->result.data.test, 20) << method;
    if (method != "hots") {
      EXPECT_GT(one->result.accuracy, 50.0) << method << ": chance is 10 %";
      continue;
    }
    // Its histograms do not know where an event was: they can only tell bars by their direction.
    int64_t right_direction = 0;
    for (std::size_t truth = 0; truth < 10; ++truth) {
      for (std::size_t answer = truth % 2; answer < 10; answer += 2) {
        right_direction += one->result.confusion[truth][answer];
      }
    }
    EXPECT_GE(right_direction, 16) << "of 20; chance is 10";
  }
}

TEST_F(Studies, SplitsAreThoseOfTheNetworks) {
  const RecordingStream stream(config("hats"), go_on);
  const DatasetSplits networks = open_dataset("nmnist", directory_.path());
  EXPECT_EQ(stream.test_labels(), networks.test.labels);
  EXPECT_EQ(stream.train_labels({0, 70}), networks.train.labels);
  EXPECT_EQ(stream.test_file(3), networks.test.files[3].string());
  EXPECT_EQ(stream.train(), split_training(70, 0.1).train);
}

TEST_F(Studies, StopLeavesNothing) {
  for (const std::string& method : classical_method_names()) {
    int64_t calls = 0;
    const auto stopped = study_classical(
        config(method), [&](const std::string&, int64_t, int64_t) { return ++calls == 5; });
    EXPECT_FALSE(stopped) << method;
    EXPECT_LT(calls, 10) << method;
  }
}

TEST_F(Studies, RefusalsAreSentences) {
  ClassicalConfig images = config("hats");
  images.data.name = "cifar10";
  EXPECT_THAT(refusal([&] { study_classical(images, go_on); }),
              HasSubstr("cifar10 holds images, expected a data set of event recordings"));
  ClassicalConfig nowhere = config("hats");
  nowhere.data.dir = "/nowhere";
  EXPECT_THAT(refusal([&] { study_classical(nowhere, go_on); }), HasSubstr("/nowhere"));
  ClassicalConfig unsplit = config("hats");
  unsplit.data.validation = 0.0;
  EXPECT_THAT(refusal([&] { study_classical(unsplit, go_on); }), HasSubstr("validation"));
  directory_.write("Test/3/10.bin", Bytes{1, 2, 3});
  EXPECT_THAT(refusal([&] { study_classical(config("hfirst"), go_on); }), HasSubstr("10.bin"));
}

TEST_F(Studies, RecordingsOfOtherSensorsAreRefused) {
  TemporaryDirectory folder;
  const auto dat = [](int width) {
    const std::string header = "% Width " + std::to_string(width) + "\n% Height 20\n% Version 2\n";
    Bytes bytes(header.begin(), header.end());
    bytes.insert(bytes.end(), {0, 8});
    for (uint32_t i = 0; i < 20; ++i) {
      testing::append_little_endian(1000 * i, bytes);
      testing::append_little_endian(i % 10 | (i % 10) << 14 | 1U << 28, bytes);
    }
    return bytes;
  };
  for (const char* name : {"a/1.dat", "a/2.dat", "b/1.dat", "b/2.dat"}) folder.write(name, dat(30));
  ClassicalConfig mine = classical_defaults("hats", "event-folder");
  mine.data.dir = folder.path().string();
  mine.data.validation = 0.0;
  mine.svm.costs = {1.0};
  const auto study = study_classical(mine, go_on);
  ASSERT_TRUE(study);
  EXPECT_EQ(study->result.data.sensor_width, 30);
  EXPECT_TRUE(study->result.auc) << "of two classes";
  folder.write("b/2.dat", dat(40));
  EXPECT_THAT(refusal([&] { study_classical(mine, go_on); }),
              HasSubstr("a sensor of 40x20 pixels, but others have 30x20"));
}

TEST(RealRecordings, HatsLearnsDigits) {
  const std::filesystem::path place = testing::shared_data() / "nmnist";
  if (testing::shared_data().empty() || !std::filesystem::exists(place)) {
    GTEST_SKIP() << "needs the real N-MNIST recordings in nmnist of $BNTT_SHARED_DATA";
  }
  ClassicalConfig config = classical_defaults("hats", "nmnist");
  config.data.dir = place.string();
  config.data.limit_train = 300;
  const auto study = study_classical(config, go_on);
  ASSERT_TRUE(study);
  EXPECT_EQ(study->result.features.count, 2450);
  EXPECT_GT(study->result.accuracy, 75.0);
}

}  // namespace
}  // namespace bntt
