#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "data/event_sets.h"
#include "sample_files.h"

// Recordings one by one, against the frames that networks get.
namespace bntt {
namespace {

using testing::append_aedat2;
using testing::Bytes;
using ::testing::HasSubstr;
using testing::refusal;
using testing::TemporaryDirectory;
using testing::text_bytes;

class DvsRecordings : public ::testing::Test {
 protected:
  DvsRecordings() {
    const std::vector<std::string> classes = {"airplane", "automobile", "bird",  "cat",  "deer",
                                              "dog",      "frog",       "horse", "ship", "truck"};
    for (std::size_t label = 0; label < classes.size(); ++label) {
      for (int file = 0; file < 2; ++file) {
        Bytes bytes = text_bytes("#!AER-DAT2.0\r\n");
        for (int k = 0; k < 40; ++k) {
          // Times fall back at every third event.
          append_aedat2((static_cast<int>(label) * 11 + 5 * k) % 128, (k * k + file) % 128,
                        k % 3 == 0, static_cast<uint32_t>(1000 + 10 * k - (k % 3 == 2 ? 15 : 0)),
                        bytes);
        }
        directory_.write(classes[label] + "/" + std::to_string(file) + ".aedat", bytes);
      }
    }
  }
  TemporaryDirectory directory_;
};

TEST_F(DvsRecordings, EventsFillTheFramesOfTheNetworks) {
  const RecordingSets sets = open_recordings("dvs-cifar10", directory_.path());
  const DatasetSplits frames =
      open_dataset("dvs-cifar10", directory_.path(), {.size = 128, .events = {.frames = 1}});
  const auto expect_same = [&](const FileList& list, const ImageSet& images) {
    ASSERT_EQ(std::ssize(list.samples), images.size());
    for (int64_t i = 0; i < images.size(); ++i) {
      EXPECT_EQ(list.samples[i].label, images.labels[i]);
      EXPECT_EQ(list.files[list.samples[i].file].string(), images.files[i].string());
      const Recording recording = sets.read(list.files[list.samples[i].file]);
      EXPECT_TRUE(std::ranges::is_sorted(recording.events, {}, &Event::time_us));
      std::vector<uint8_t> counts(2 * 128 * 128);
      for (const Event& event : recording.events) {
        ++counts[(event.y * 128 + event.x) * 2 + (event.on ? 1 : 0)];
      }
      EXPECT_TRUE(std::equal(counts.begin(), counts.end(), images.image(i))) << i;
    }
  };
  expect_same(sets.train, frames.train);
  expect_same(sets.test, frames.test);
  EXPECT_EQ(sets.class_names, frames.train.class_names);
}

TEST_F(DvsRecordings, AreRecognisedByTheirFolders) {
  EXPECT_EQ(recognised_recordings(directory_.path()), "dvs-cifar10");
  const TemporaryDirectory other;
  EXPECT_EQ(recognised_recordings(other.path()), "");
  other.write("Train/0/a.bin", Bytes(5));
  other.write("Test/0/a.bin", Bytes(5));
  EXPECT_EQ(recognised_recordings(other.path()), "nmnist");
}

TEST_F(DvsRecordings, RefuseImagesAndSensorsOfTheirOwn) {
  EXPECT_THAT(refusal([&] { open_recordings("mnist", directory_.path()); }),
              HasSubstr("mnist holds images, expected a data set of event recordings"));
  EXPECT_THAT(refusal([&] {
                open_recordings("dvs-cifar10", directory_.path(), {10, 10});
              }),
              HasSubstr("only event-folder takes one"));
  directory_.write("cat/0.aedat", text_bytes("#!AER-DAT2.0\r\n"));
  const RecordingSets sets = open_recordings("dvs-cifar10", directory_.path());
  EXPECT_THAT(refusal([&] { sets.read(directory_.path() / "cat/0.aedat"); }),
              HasSubstr("holds no events"));
}

TEST(Stretches, HoldTheirEventsAlone) {
  const Recording recording{.sensor = {2, 2},
                            .events = {{.time_us = 1}, {.time_us = 5}, {.time_us = 9}}};
  const FileSample stretch{.begin_us = 5, .end_us = 9};
  EXPECT_THAT(events_of(recording, stretch).events, ::testing::ElementsAre(Event{.time_us = 5}));
  EXPECT_EQ(events_of(recording, {}).events, recording.events);
}

}  // namespace
}  // namespace bntt
