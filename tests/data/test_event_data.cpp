#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/files.h"
#include "bntt/encoder.h"
#include "data/event_files.h"
#include "data/event_frames.h"
#include "data/loader.h"
#include "sample_files.h"
#include "shared_data.h"

namespace bntt {
namespace {

using testing::append_aedat2;
using testing::append_little_endian;
using testing::append_nmnist;
using testing::Bytes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::refusal;
using testing::TemporaryDirectory;
using testing::text_bytes;

Bytes aedat2_header() { return text_bytes("#!AER-DAT2.0\r\n# a line\r\n#another\n"); }

TEST(Aedat2, ReadsAddressesAndPolarity) {
  Bytes bytes = aedat2_header();
  append_aedat2(3, 127, true, 10, bytes);
  append_aedat2(127, 0, false, 12, bytes);
  testing::append_big_endian(0x8002, bytes);  // a sync pulse
  testing::append_big_endian(13, bytes);
  testing::append_big_endian(0x80000400, bytes);  // another special event
  testing::append_big_endian(14, bytes);
  EXPECT_THAT(parse_aedat2(bytes, "file"),
              ElementsAre(Event{10, 3, 127, true}, Event{12, 127, 0, false}));
  EXPECT_THAT(parse_aedat2(aedat2_header(), "file"), IsEmpty());
}

TEST(Aedat2, UnwrapsTheCounterAndKeepsSmallStepsBack) {
  Bytes bytes = aedat2_header();
  for (const uint32_t time : {0xfffffff0U, 0xffffffffU, 0xfffffffeU, 5U, 3U}) {
    append_aedat2(0, 0, true, time, bytes);
  }
  std::vector<int64_t> times;
  for (const Event& event : parse_aedat2(bytes, "file")) times.push_back(event.time_us);
  EXPECT_THAT(times, ElementsAre(0xfffffff0, 0xffffffff, 0xfffffffe, 0x100000005, 0x100000003));
}

TEST(Aedat2, RefusesOtherFilesAndHalfEvents) {
  EXPECT_EQ(refusal([] { parse_aedat2(text_bytes("#!AER-DAT3.1\r\n"), "file"); }),
            "file begins with '#!AER-DAT3.1', expected '#!AER-DAT2.0'");
  EXPECT_EQ(refusal([] { parse_aedat2({}, "file"); }),
            "file begins with '', expected '#!AER-DAT2.0'");
  Bytes bytes = aedat2_header();
  append_aedat2(0, 0, true, 1, bytes);
  bytes.pop_back();
  EXPECT_EQ(refusal([&] { parse_aedat2(bytes, "file"); }),
            "file ends in the middle of an event: 7 bytes of events, expected a multiple of 8");
}

TEST(Aedat2, RefusesRecordingsOfLargerCameras) {
  Bytes bytes = aedat2_header();
  append_aedat2(3, 127, true, 10, bytes);
  // x 20, y 3, on: as a DAVIS writes it.
  testing::append_big_endian(3U << 22 | 20U << 12 | 1U << 11, bytes);
  testing::append_big_endian(11, bytes);
  EXPECT_EQ(refusal([&] { parse_aedat2(bytes, "file"); }),
            "file has an event with the address 0xc14800, expected at most 0xffff: its camera is "
            "not a DVS128 but a larger one, perhaps a DAVIS");
}

// Counted with NumPy.
TEST(Aedat2, RealRecordingsHaveTheirEventsAndTimes) {
  const auto directory = testing::shared_data() / "dvs128";
  if (!std::filesystem::is_directory(directory)) GTEST_SKIP() << "no folder of real recordings";
  const auto read = [&](const char* name) {
    return parse_aedat2(read_file(directory / name, 1 << 24), name);
  };
  const std::vector<Event> first = read("Lapiseira.aedat");
  EXPECT_EQ(first.size(), 126164U);
  EXPECT_EQ(first.front().time_us, 3799644735);
  EXPECT_EQ(first.back().time_us, 3818152388);
  const std::vector<Event> second = read("Tesoura.aedat");
  EXPECT_EQ(second.size(), 143655U);
  EXPECT_EQ(second.front().time_us, 2890272251);
  EXPECT_EQ(second.back().time_us, 2909034948);
  EXPECT_THAT(read("header-only.aedat"), IsEmpty());
}

struct PolarityEvent {
  uint32_t x;
  uint32_t y;
  bool on;
  uint32_t time_us;
  bool valid = true;
};

void append_packet(const std::vector<PolarityEvent>& events, uint32_t overflow, Bytes& bytes) {
  bytes.insert(bytes.end(), {1, 0, 1, 0});
  const auto count = static_cast<uint32_t>(events.size());
  for (const uint32_t field : {8U, 4U, overflow, count, count, count}) {
    append_little_endian(field, bytes);
  }
  for (const PolarityEvent& event : events) {
    append_little_endian(
        event.x << 17 | event.y << 2 | (event.on ? 2U : 0U) | (event.valid ? 1U : 0U), bytes);
    append_little_endian(event.time_us, bytes);
  }
}

Bytes aedat3_header() { return text_bytes("#!AER-DAT3.1\r\n#Format: RAW\r\n#!END-HEADER\r\n"); }

TEST(Aedat3, ReadsPolarityPacketsAndSkipsOthers) {
  Bytes bytes = aedat3_header();
  append_packet({{5, 9, true, 100}, {6, 9, true, 101, false}, {127, 127, false, 102}}, 0, bytes);
  bytes.insert(bytes.end(), {2, 0, 1, 0});  // another type: one event of 3 bytes
  for (const uint32_t field : {3U, 0U, 0U, 1U, 1U, 1U}) append_little_endian(field, bytes);
  bytes.insert(bytes.end(), {9, 9, 9});
  append_packet({{0, 1, true, 7}}, 2, bytes);
  EXPECT_THAT(parse_aedat3(bytes, "file"),
              ElementsAre(Event{100, 5, 9, true}, Event{102, 127, 127, false},
                          Event{(int64_t{2} << 31) + 7, 0, 1, true}));
}

TEST(Aedat3, RefusesWhatDoesNotFit) {
  EXPECT_EQ(refusal([] { parse_aedat3(text_bytes("#!AER-DAT3.1\n#x\n"), "file"); }),
            "file has no line '#!END-HEADER' at the end of its header");
  Bytes bytes = aedat3_header();
  append_packet({{1, 0, true, 1}}, 0, bytes);
  bytes.pop_back();
  EXPECT_EQ(refusal([&] { parse_aedat3(bytes, "file"); }),
            "file announces a packet of 8 bytes at byte 70, but only 7 are left");
  bytes.resize(bytes.size() - 20);
  EXPECT_EQ(refusal([&] { parse_aedat3(bytes, "file"); }),
            "file ends in the middle of a packet's header, at byte 42");
}

TEST(Nmnist, ReadsFortyBitEvents) {
  Bytes bytes;
  append_nmnist(1, 33, true, 0x7ffffe, bytes);
  append_nmnist(33, 0, false, 3, bytes);   // the counter went around
  append_nmnist(0, 240, false, 0, bytes);  // overflow marker
  append_nmnist(0, 0, false, 4, bytes);
  EXPECT_THAT(parse_nmnist(bytes, "file"),
              ElementsAre(Event{0x7ffffe, 1, 33, true}, Event{0x800003, 33, 0, false},
                          Event{0x800004 + 8192, 0, 0, false}));
  bytes.pop_back();
  EXPECT_EQ(refusal([&] { parse_nmnist(bytes, "file"); }),
            "file holds 19 bytes, expected a multiple of 5");
}

TEST(Gesture, ReadsLabelTables) {
  EXPECT_THAT(parse_gesture_labels("class,start,end\n1,5,9\r\n11,10,20\n", 11, "file"),
              ElementsAre(GestureSpan{0, 5, 9}, GestureSpan{10, 10, 20}));
  EXPECT_THAT(parse_gesture_labels("", 11, "file"), IsEmpty());
  for (const char* row : {"12,5,9", "0,5,9", "1,9,5", "1,5", "x,1,2", "1,-3,9"}) {
    EXPECT_EQ(refusal([&] { parse_gesture_labels(std::string("h\n") + row, 11, "file"); }),
              std::string("file: line 2 is '") + row +
                  "', expected a class from 1 to 11, a start and a later end");
  }
}

constexpr FrameLayout kSmall = {.sensor = {4, 4}, .side = 2};

Bytes frames_of(const std::vector<Event>& events, const FrameLayout& layout,
                const FrameOptions& options) {
  Bytes frames(static_cast<std::size_t>(options.frames * layout.side * layout.side * 2), 99);
  count_events(events, layout, options, "file", frames.data());
  return frames;
}

TEST(EventFrames, EqualTimes) {
  // 0..9 in two intervals of five microseconds.
  const std::vector<Event> events = {
      {100, 0, 0, true}, {104, 1, 1, true}, {105, 3, 0, false}, {109, 0, 2, true}};
  EXPECT_THAT(frames_of(events, kSmall, {.frames = 2}), ElementsAre(0, 2, 0, 0, 0, 0, 0, 0,  //
                                                                    0, 0, 1, 0, 0, 1, 0, 0));
}

TEST(EventFrames, EqualCounts) {
  const std::vector<Event> events = {
      {0, 0, 0, true}, {1, 1, 1, true}, {2, 3, 0, false}, {1000, 0, 2, true}};
  EXPECT_THAT(frames_of(events, kSmall, {.frames = 2, .interval = Interval::count}),
              ElementsAre(0, 2, 0, 0, 0, 0, 0, 0,  //
                          0, 0, 1, 0, 0, 1, 0, 0));
}

TEST(EventFrames, BinsOfFixedLengthFromTheFirstEventOn) {
  const std::vector<Event> events = {
      {100, 0, 0, true}, {104, 1, 1, true}, {105, 3, 0, false}, {119, 0, 2, true}};
  // Three events in the first two bins of 5 us, the last one in the fourth.
  EXPECT_THAT(frames_of(events, kSmall, {.frames = 5, .bin_us = 5}),
              ElementsAre(0, 2, 0, 0, 0, 0, 0, 0,  //
                          0, 0, 1, 0, 0, 0, 0, 0,  //
                          0, 0, 0, 0, 0, 0, 0, 0,  //
                          0, 0, 0, 0, 0, 1, 0, 0,  //
                          0, 0, 0, 0, 0, 0, 0, 0));
  Bytes two(16, 99);
  EXPECT_EQ(count_events(events, kSmall, {.frames = 2, .bin_us = 5}, "file", two.data()), 4);
  EXPECT_THAT(two, ElementsAre(0, 2, 0, 0, 0, 0, 0, 0,  //
                               0, 0, 1, 0, 0, 0, 0, 0));
}

TEST(EventFrames, ClippedAndSaturated) {
  const std::vector<Event> events(300, Event{5, 3, 3, false});
  EXPECT_THAT(frames_of(events, kSmall, {.frames = 1}), ElementsAre(0, 0, 0, 0, 0, 0, 255, 0));
  EXPECT_THAT(frames_of(events, kSmall, {.frames = 1, .clip = true}),
              ElementsAre(0, 0, 0, 0, 0, 0, 1, 0));
}

TEST(EventFrames, TurnedSensor) {
  const FrameLayout turned = {.sensor = {4, 4}, .side = 2, .turn = SensorTurn::half_and_swap};
  // x = 0 is the lowest row, y = 3 the leftmost column.
  EXPECT_THAT(frames_of({{0, 0, 3, true}}, turned, {.frames = 1}),
              ElementsAre(0, 0, 0, 0, 0, 1, 0, 0));
}

TEST(EventFrames, BothSidesOfTheSensorAreScaledToTheFrame) {
  const FrameLayout wide = {.sensor = {1280, 720}, .side = 2};
  EXPECT_THAT(frames_of({{0, 639, 359, true}, {0, 640, 360, false}}, wide, {.frames = 1}),
              ElementsAre(0, 1, 0, 0, 0, 0, 1, 0));
  const FrameLayout turned = {.sensor = {8, 4}, .side = 2, .turn = SensorTurn::half_and_swap};
  EXPECT_THAT(frames_of({{0, 7, 0, true}}, turned, {.frames = 1}),
              ElementsAre(0, 0, 0, 1, 0, 0, 0, 0));
}

TEST(EventFrames, RefusesEventsOutsideTheSensor) {
  const auto refused = [](const Event& event) {
    return refusal([&] {
      frames_of({{0, 3, 3, true}, event}, {.sensor = {4, 5}, .side = 2}, {.frames = 1});
    });
  };
  EXPECT_EQ(refused({0, 4, 0, true}),
            "file has event 1 at x 4, y 0, outside its sensor of 4x5 pixels");
  EXPECT_EQ(refused({0, 0, 5, true}),
            "file has event 1 at x 0, y 5, outside its sensor of 4x5 pixels");
  EXPECT_EQ(refused({0, -1, 0, true}),
            "file has event 1 at x -1, y 0, outside its sensor of 4x5 pixels");
}

TEST(EventFrames, RefusesNoEventsAndEndlessOnes) {
  EXPECT_EQ(refusal([] { frames_of({}, kSmall, {.frames = 1}); }),
            "file holds no events, expected at least one");
  EXPECT_EQ(refusal([] {
              frames_of({{0, 0, 0, true}, {int64_t{1} << 41, 0, 0, true}}, kSmall, {.frames = 1});
            }),
            "file lasts 2199023255553 microseconds, expected at most 1099511627776");
}

TEST(EventEncoder, CountsBecomeWeightedPlanes) {
  Batch batch;
  batch.sample_ids = {1, 2};
  batch.labels = {0, 0};
  batch.shape = {2, 1, 2};
  batch.frames = 3;
  batch.counts = Buffer<uint8_t>(2 * 3 * 4);
  std::iota(batch.counts.begin(), batch.counts.end(), uint8_t{0});
  const auto spikes =
      std::get<SpikeTrain>(encode(batch, 2, {.kind = EncoderKind::events}, 1, 0, 1));
  EXPECT_THAT(spikes.plane_weights(), ElementsAre(1.0F, 2.0F, 4.0F, 8.0F, 16.0F));
  for (int64_t image = 0; image < 2; ++image) {
    for (int64_t step = 0; step < 2; ++step) {
      for (int64_t i = 0; i < 4; ++i) {
        EXPECT_EQ(spikes.value(step, image, 0, i / 2, i % 2),
                  static_cast<float>(image * 12 + (step + 1) * 4 + i));
      }
    }
  }
}

class NmnistFolders : public ::testing::Test {
 protected:
  NmnistFolders() {
    for (const char* split : {"Train", "Test"}) {
      for (int digit = 0; digit < 10; ++digit) {
        for (int i = 0; i < 3; ++i) {
          Bytes bytes;
          for (int k = 0; k <= digit; ++k) append_nmnist(k, i, true, 100U * k, bytes);
          directory_.write(fmt(split, digit, i), bytes);
        }
      }
    }
  }
  static std::string fmt(const std::string& split, int digit, int i) {
    return split + "/" + std::to_string(digit) + "/" + std::to_string(i) + ".bin";
  }
  TemporaryDirectory directory_;
};

TEST_F(NmnistFolders, FillFramesInAFixedOrder) {
  const DatasetSplits all = open_dataset("nmnist", directory_.path(), {.events = {.frames = 2}});
  EXPECT_EQ(all.train.size(), 30);
  EXPECT_EQ(all.train.kind, SampleKind::events);
  EXPECT_EQ(all.train.shape, (MapShape{2, 34, 34}));
  EXPECT_EQ(all.train.frames, 2);
  const DatasetSplits first =
      open_dataset("nmnist", directory_.path(), {.limit_train = 10, .events = {.frames = 2}});
  EXPECT_THAT(first.train.labels, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  for (int64_t i = 0; i < 10; ++i) {
    const uint8_t* frames = first.train.image(i);
    EXPECT_TRUE(std::equal(frames, frames + first.train.sample_bytes(), all.train.image(i)));
    EXPECT_EQ(std::accumulate(frames, frames + first.train.sample_bytes(), 0), i + 1);
  }
}

TEST_F(NmnistFolders, AugmentedAlikeInAllFrames) {
  const DatasetSplits data = open_dataset("nmnist", directory_.path(), {.events = {.frames = 2}});
  TrainLoader loader(data.train, {0, 30},
                     {.batch = 30, .seed = 3, .augmentation = {.pad = 2, .cutout = 3}});
  const Batch batch = loader.next();
  EXPECT_TRUE(batch.images.empty());
  ASSERT_EQ(batch.counts.size(), 30 * data.train.sample_bytes());
  const int64_t size = data.train.shape.size();
  for (int64_t i = 0; i < 30; ++i) {
    const CropFlip crop =
        draw_crop_flip({.pad = 2, .cutout = 3}, data.train.shape, 3, 0, batch.sample_ids[i]);
    for (int64_t frame = 0; frame < 2; ++frame) {
      Bytes expected(static_cast<std::size_t>(size));
      crop_flip(data.train.image(batch.sample_ids[i]) + frame * size, data.train.shape, crop,
                expected.data());
      const uint8_t* got = batch.counts.data() + (i * 2 + frame) * size;
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), got)) << i;
    }
  }
}

TEST_F(NmnistFolders, RefuseWhatIsMissingOrDamaged) {
  const auto open = [&] { open_dataset("nmnist", directory_.path()); };
  directory_.write("Train/4/0.bin", {});
  EXPECT_EQ(refusal(open), "nmnist: " + (directory_.path() / "Train/4/0.bin").string() +
                               " holds no events, expected at least one");
  std::filesystem::remove_all(directory_.path() / "Train/4");
  EXPECT_EQ(refusal(open), "nmnist: " + (directory_.path() / "Train/4").string() +
                               " cannot be listed: No such file or directory");
}

TEST(DvsGesture, EachLabelledStretchIsASample) {
  const TemporaryDirectory directory;
  Bytes bytes = aedat3_header();
  append_packet({{0, 0, true, 10}, {127, 0, true, 20}, {127, 127, true, 30}}, 0, bytes);
  directory.write("DvsGesture/user01_led.aedat", bytes);
  directory.write("DvsGesture/user01_led_labels.csv",
                  text_bytes("class,startTime_usec,endTime_usec\n3,10,20\n7,20,31\n"));
  directory.write("DvsGesture/trials_to_train.txt", text_bytes("user01_led.aedat\n\n"));
  directory.write("DvsGesture/trials_to_test.txt", text_bytes("user01_led.aedat\n"));
  const DatasetSplits data =
      open_dataset("dvs-gesture", directory.path(), {.size = 2, .events = {.frames = 1}});
  EXPECT_THAT(data.train.labels, ElementsAre(2, 6));
  EXPECT_THAT(data.train.pixels, ElementsAre(0, 1, 0, 0, 0, 0, 0, 0,  //
                                             0, 0, 0, 1, 0, 0, 0, 1));
  directory.write("DvsGesture/trials_to_test.txt", text_bytes("../user01_led.aedat\n"));
  EXPECT_THAT(refusal([&] { open_dataset("dvs-gesture", directory.path()); }),
              ::testing::EndsWith("expected the name of an .aedat file"));
}

}  // namespace
}  // namespace bntt
