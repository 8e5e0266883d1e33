// A wrong argument of a function in include/bntt/data is an Error. Run under the sanitizers by
// scripts/check.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "bntt/data/picture.h"
#include "bntt/data/recording.h"
#include "bntt/error.h"
#include "bntt/model.h"

namespace bntt {
namespace {

using ::testing::EndsWith;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

TEST(DataArguments, OfPictures) {
  EXPECT_THROW((void)read_picture(""), Error);
  EXPECT_THROW((void)read_picture("/"), Error);
  EXPECT_THROW((void)read_picture("/nowhere/at/all.png"), Error);
  EXPECT_THROW((void)decode_picture({}, "test"), Error);
  EXPECT_THROW((void)decode_picture(std::vector<uint8_t>{0x89, 'P', 'N', 'G'}, "test"), Error);
  EXPECT_THROW((void)decode_picture(std::vector<uint8_t>{0xff, 0xd8, 0xff}, "test"), Error);
}

TEST(DataArguments, OfRecordings) {
  EXPECT_THROW((void)read_recording(""), Error);
  EXPECT_THROW((void)read_recording("/"), Error);
  EXPECT_THROW((void)read_recording("/nowhere/at/all.bin", {34, 34}), Error);
  for (const SensorSize& half : {SensorSize{34, 0}, SensorSize{0, 34}, SensorSize{-34, -34}}) {
    const std::string expected = "expected both sides above 0, or neither";
    const auto sentence = [](auto read) {
      try {
        read();
      } catch (const Error& error) {
        return std::string(error.what());
      }
      return std::string("nothing was refused");
    };
    const std::string file = "/nowhere/at/all.bin";
    EXPECT_THAT(sentence([&] { (void)read_recording(file, half); }), EndsWith(expected));
    EXPECT_THAT(sentence([&] { (void)read_recording_for({}, file, half); }), EndsWith(expected));
  }
  EXPECT_THROW((void)read_recording_for({}, ""), Error);
  EXPECT_THROW((void)read_recording_for({}, "/"), Error);
  EXPECT_THROW((void)read_recording_for({}, "/nowhere/at/all.bin", {34, 34}), Error);
  ModelCard damaged;
  damaged.training.settings = "[data";
  EXPECT_THROW((void)read_recording_for(damaged, "/nowhere/at/all.bin"), Error);
  const Recording right{{34, 34}, {{.time_us = 0}, {.time_us = 9, .x = 33, .y = 33, .on = true}}};
  const MapShape map{2, 34, 34};
  EXPECT_EQ(frames_of(right, map, {.frames = 2}).counts.size(), 2 * map.size());
  for (const MapShape& wrong : {MapShape{1, 34, 34}, MapShape{2, 34, 33}, MapShape{2, 0, 0},
                                MapShape{2, -4, -4}, MapShape{2, kHuge, kHuge}}) {
    EXPECT_THROW((void)frames_of(right, wrong, {.frames = 2}), Error);
  }
  for (const int64_t frames : {int64_t{0}, int64_t{-1}, kHuge}) {
    EXPECT_THROW((void)frames_of(right, map, {.frames = frames}), Error) << frames;
  }
  EXPECT_THROW((void)frames_of(right, map, {.frames = 2, .bin_us = -1}), Error);
  EXPECT_THROW((void)frames_of(right, map, {.frames = 2, .interval = static_cast<Interval>(9)}),
               Error);
  EXPECT_NO_THROW((void)frames_of(right, map, {.frames = 2, .bin_us = kHuge}));
  const auto refused = [&](auto change) {
    Recording wrong = right;
    change(wrong);
    for (const Interval interval : {Interval::time, Interval::count}) {
      EXPECT_THROW((void)frames_of(wrong, map, {.frames = 2, .interval = interval}), Error);
    }
  };
  refused([](Recording& recording) { recording.events.clear(); });
  refused([](Recording& recording) { recording.sensor = {}; });
  refused([](Recording& recording) { recording.sensor.width = -1; });
  refused([](Recording& recording) { recording.events[1].x = 34; });
  refused([](Recording& recording) { recording.events[1].y = -1; });
  refused([](Recording& recording) {
    recording.events[0].time_us = std::numeric_limits<int64_t>::min();
  });
  refused([](Recording& recording) { recording.events[1].time_us = kHuge; });
}

}  // namespace
}  // namespace bntt
