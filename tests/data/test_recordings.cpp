#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "data/dataset.h"
#include "data/recordings.h"
#include "sample_files.h"

namespace bntt {
namespace {

using testing::append_aedat2;
using testing::append_little_endian;
using testing::append_nmnist;
using testing::Bytes;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::refusal;
using testing::TemporaryDirectory;
using testing::text_bytes;

Bytes aedat2_file() {
  Bytes bytes = text_bytes("#!AER-DAT2.0\r\n");
  append_aedat2(3, 120, true, 10, bytes);
  return bytes;
}

Bytes aedat3_file(const std::string& source, uint32_t x, uint32_t y) {
  Bytes bytes = text_bytes("#!AER-DAT3.1\r\n#Format: RAW\r\n" + source + "#!END-HEADER\r\n");
  bytes.insert(bytes.end(), {1, 0, 1, 0});
  for (const uint32_t field : {8U, 4U, 0U, 1U, 1U, 1U}) append_little_endian(field, bytes);
  append_little_endian(x << 17 | y << 2 | 3, bytes);
  append_little_endian(10, bytes);
  return bytes;
}

Bytes nmnist_file(int x, int y) {
  Bytes bytes;
  append_nmnist(x, y, true, 10, bytes);
  return bytes;
}

Bytes evt2_file(const std::string& header, uint32_t x, uint32_t y) {
  Bytes bytes = text_bytes(header);
  append_little_endian(0x80000000, bytes);
  append_little_endian(1U << 28 | 10U << 22 | x << 11 | y, bytes);
  return bytes;
}

Bytes evt3_file(const std::string& header, uint32_t x, uint32_t y) {
  Bytes bytes = text_bytes(header);
  append_little_endian(0x600a8000, bytes);
  append_little_endian(0x28000000 | x << 16 | y, bytes);
  return bytes;
}

Bytes dat_file(const std::string& sides, uint32_t x, uint32_t y) {
  Bytes bytes = text_bytes("% Version 2\n" + sides);
  bytes.insert(bytes.end(), {0, 8});
  append_little_endian(10, bytes);
  append_little_endian(1U << 28 | y << 14 | x, bytes);
  return bytes;
}

const char* const kEvt2Header = "% format EVT2;width=640;height=480\n";

TEST(Recording, EveryFormatSaysItsSensorOrNeedsASetting) {
  const auto expect = [](const Bytes& bytes, const std::string& extension,
                         const SensorSize& setting, const SensorSize& sensor, const Event& event) {
    const Recording recording = parse_recording(bytes, extension, setting, "file");
    EXPECT_EQ(recording.sensor, sensor) << extension;
    EXPECT_THAT(recording.events, ElementsAre(event)) << extension;
  };
  const Event event{10, 100, 33, true};
  expect(aedat2_file(), ".aedat", {}, {128, 128}, {10, 3, 7, true});  // rows from below
  expect(aedat2_file(), ".dat", {}, {128, 128}, {10, 3, 7, true});
  expect(aedat3_file("#Source 1: DVS128\r\n", 100, 33), ".aedat", {}, {128, 128}, event);
  expect(aedat3_file("#Source 0: DAVIS240C\r\n", 100, 33), ".aedat", {}, {240, 180}, event);
  expect(aedat3_file("#Source 0: DAVIS346B\r\n", 100, 33), ".aedat", {}, {346, 260}, event);
  expect(aedat3_file("", 100, 33), ".aedat", {200, 100}, {200, 100}, event);
  expect(nmnist_file(100, 33), ".bin", {240, 180}, {240, 180}, event);
  expect(evt2_file(kEvt2Header, 100, 33), ".raw", {}, {640, 480}, event);
  expect(evt3_file("% format EVT3;width=1280;height=720\n% end\n", 100, 33), ".raw", {},
         {1280, 720}, event);
  expect(evt3_file("% evt 3.0\n", 100, 33), ".raw", {1280, 720}, {1280, 720}, event);
  expect(dat_file("% Height 240\n% Width 304\n", 100, 33), ".dat", {}, {304, 240}, event);
  // A setting counts more than a header: objects of N-CARS are cut out of the sensor.
  expect(dat_file("% Height 240\n% Width 304\n", 100, 33), ".dat", {120, 100}, {120, 100}, event);

  const std::string missing =
      "file does not say how large its sensor is: set sensor_width and sensor_height "
      "(--sensor-width and --sensor-height of bntt data and bntt predict)";
  for (const auto& [bytes, extension] :
       {std::pair{aedat3_file("#Source 0: other\r\n", 1, 1), ".aedat"},
        {nmnist_file(1, 1), ".bin"},
        {evt2_file("% evt 2.0\n", 1, 1), ".raw"},
        {dat_file("", 1, 1), ".dat"}}) {
    EXPECT_EQ(refusal([&] { parse_recording(bytes, extension, {}, "file"); }), missing);
  }
}

TEST(Recording, EventsOutsideTheSensorAreNamed) {
  EXPECT_EQ(refusal([] { parse_recording(evt2_file(kEvt2Header, 640, 3), ".raw", {}, "file"); }),
            "file has event 0 at x 640, y 3, outside its sensor of 640x480 pixels");
  EXPECT_EQ(refusal([] { parse_recording(evt2_file(kEvt2Header, 3, 480), ".raw", {}, "file"); }),
            "file has event 0 at x 3, y 480, outside its sensor of 640x480 pixels");
  EXPECT_EQ(refusal([] {
              parse_recording(evt2_file(kEvt2Header, 3, 479), ".raw", {4, 100}, "file");
            }),
            "file has event 0 at x 3, y 479, outside its sensor of 4x100 pixels");
}

// One recording alone is seen as the data set shows it: DVS-CIFAR10 is turned upright.
TEST(Recording, OfADataSetHasTheFramesOfTheDataSet) {
  const TemporaryDirectory directory;
  const std::vector<std::string> classes = {"airplane", "automobile", "bird",  "cat",  "deer",
                                            "dog",      "frog",       "horse", "ship", "truck"};
  for (const std::string& name : classes) {
    for (int file = 0; file < 2; ++file) {
      Bytes bytes = text_bytes("#!AER-DAT2.0\r\n");
      for (int k = 0; k < 9; ++k) {
        append_aedat2(5 + 7 * k, 20 + 11 * k + file, k % 3 == 0, 10U + static_cast<uint32_t>(k),
                      bytes);
      }
      directory.write(fmt::format("{}/{}.aedat", name, file), bytes);
    }
  }
  const FrameOptions frames{.frames = 3};
  const DatasetSplits data = open_dataset("dvs-cifar10", directory.path(), {.events = frames});
  const Batch batch = frames_of(read_recording_of("dvs-cifar10", data.train.files[0], {}),
                                data.train.shape, frames);
  ASSERT_EQ(batch.counts.size(), data.train.sample_bytes());
  EXPECT_TRUE(std::equal(batch.counts.begin(), batch.counts.end(), data.train.image(0)));
  EXPECT_EQ(std::accumulate(batch.counts.begin(), batch.counts.end(), 0), 9);
}

TEST(Recording, RefusesWhatItDoesNotRead) {
  const auto refused = [](const std::string& text, const char* extension) {
    return refusal([&] { parse_recording(text_bytes(text), extension, {}, "file"); });
  };
  EXPECT_EQ(refused("#!AER-DAT4.0\r\n", ".aedat4"),
            "file is AEDAT 4, which is not supported: export it as AEDAT 3.1");
  EXPECT_EQ(refused("#!AER-DAT3.0\r\n", ".aedat"), "file is AEDAT 3.0, expected 2.0 or 3.1");
  EXPECT_EQ(refused("something else", ".aedat"),
            "file begins with 'something el', expected '#!AER-DAT2.0' or '#!AER-DAT3.1'");
  EXPECT_EQ(refused("", ".aedat4"),
            "file begins with '', expected '#!AER-DAT2.0' or '#!AER-DAT3.1'");
  EXPECT_EQ(refused("something", ".raw"),
            "file begins with 'so', expected a header line that begins with '% '");
}

class EventFolder : public ::testing::Test {
 protected:
  DatasetSplits open(const DatasetOptions& options = {}) const {
    return open_dataset("event-folder", directory_.path(), options);
  }
  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }
  TemporaryDirectory directory_;
};

// Whatever the format and the size of the sensor, each recording has one event, in the last row
// and the first column.
TEST_F(EventFolder, MixesFormatsAndSensors) {
  for (const std::string split : {"train/", "test/"}) {
    directory_.write(split + "a/1.raw", evt2_file(kEvt2Header, 0, 479));
    directory_.write(split + "a/2.RAW", evt3_file("% format EVT3;width=64;height=32\n", 0, 31));
    directory_.write(split + "b/3.dat", dat_file("% Height 240\n% Width 304\n", 0, 239));
    directory_.write(split + "b/4.aedat", aedat3_file("#Source 1: DVS128\r\n", 0, 127));
    directory_.write(split + "b/notes.txt", text_bytes("not a recording"));
  }
  const DatasetSplits data = open({.size = 2, .events = {.frames = 1}});
  EXPECT_EQ(data.train.kind, SampleKind::events);
  EXPECT_EQ(data.train.class_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(data.train.shape, (MapShape{2, 2, 2}));
  EXPECT_THAT(data.train.labels, ElementsAre(0, 1, 0, 1));
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_THAT(std::vector<uint8_t>(data.test.image(i), data.test.image(i) + 8),
                ElementsAre(0, 0, 0, 0, 0, 1, 0, 0));
  }
  EXPECT_EQ(open({.events = {.frames = 3}}).train.shape, (MapShape{2, 42, 42}));
}

TEST_F(EventFolder, SplitsByNameAndTakesTheSensorFromTheSettings) {
  for (int i = 0; i < 11; ++i) {
    directory_.write("a/" + std::to_string(i) + ".bin", nmnist_file(0, 0));
    directory_.write("b/" + std::to_string(i) + ".bin", nmnist_file(7, 3));
  }
  EXPECT_THAT(refusal([&] { open(); }),
              HasSubstr("does not say how large its sensor is: set sensor_width"));
  const DatasetOptions options{.size = 2, .events = {.frames = 1}, .sensor = {8, 4}};
  const DatasetSplits data = open(options);
  EXPECT_EQ(data.train.size(), 18);
  EXPECT_THAT(data.test.labels, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(std::vector<uint8_t>(data.test.image(1), data.test.image(1) + 8),
              ElementsAre(0, 0, 0, 0, 0, 0, 0, 1));
  EXPECT_EQ(refusal([&] {
              open({.sensor = {7, 4}});
            }).substr(0, ("event-folder: " + path("b")).size()),
            "event-folder: " + path("b"));
}

// The cache must tell settings of the sensor apart.
TEST_F(EventFolder, AnotherSensorIsAnotherCacheFile) {
  const TemporaryDirectory cache;
  directory_.write("a/1.bin", nmnist_file(3, 3));
  directory_.write("b/1.bin", nmnist_file(3, 3));
  const auto corner = [&](int64_t side) {
    const DatasetSplits data = open({.size = 2,
                                     .events = {.frames = 1},
                                     .sensor = {side, side},
                                     .cache = {.directory = cache.path()}});
    return std::vector<uint8_t>(data.train.image(0), data.train.image(0) + 8);
  };
  EXPECT_THAT(corner(4), ElementsAre(0, 0, 0, 0, 0, 0, 0, 1));
  EXPECT_THAT(corner(8), ElementsAre(0, 1, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(corner(4), ElementsAre(0, 0, 0, 0, 0, 0, 0, 1));
}

TEST_F(EventFolder, RefusesOneClassAndForeignFiles) {
  directory_.write("a/1.raw", evt2_file(kEvt2Header, 1, 1));
  EXPECT_EQ(refusal([&] { open(); }),
            "event-folder: " + directory_.path().string() +
                " holds one class folder, 'a', expected at least two classes");
  directory_.write("b/1.txt", text_bytes("x"));
  EXPECT_THAT(refusal([&] { open(); }),
              EndsWith("expected some that end in .aedat, .aedat2, .aedat4, .bin, .dat, .raw"));
  directory_.write("b/1.aedat4", text_bytes("#!AER-DAT4.0\r\n"));
  EXPECT_EQ(refusal([&] { open(); }),
            "event-folder: " + path("b/1.aedat4") +
                " is AEDAT 4, which is not supported: export it as AEDAT 3.1");
  directory_.write("b/1.aedat4", text_bytes("#!AER-DAT2.0\r\n"));
  EXPECT_EQ(refusal([&] { open(); }),
            "event-folder: " + path("b/1.aedat4") + " holds no events, expected at least one");
}

TEST_F(EventFolder, SensorSettingsAreForItAlone) {
  EXPECT_EQ(refusal([] {
              open_dataset("nmnist", ".", {.sensor = {34, 34}});
            }),
            "nmnist: the size of a sensor was given, but only event-folder takes one");
  EXPECT_EQ(refusal([&] {
              open({.sensor = {34, 0}});
            }),
            "event-folder: a sensor of 34x0 pixels was given, expected both sides from 1 to 16384, "
            "or neither");
  EXPECT_EQ(refusal([&] {
              open({.sensor = {16385, 1}});
            }),
            "event-folder: a sensor of 16385x1 pixels was given, expected both sides from 1 to "
            "16384, or neither");
  EXPECT_EQ(refusal([&] { open({.fit = Fit::squeeze}); }),
            "event-folder: data.fit was given, but it holds event recordings");
}

}  // namespace
}  // namespace bntt
