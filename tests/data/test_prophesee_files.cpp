#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/prophesee_files.h"
#include "sample_files.h"

// Files written byte by byte from Prophesee's descriptions of EVT 2.0, EVT 3.0, RAW and DAT.
namespace bntt {
namespace {

using testing::Bytes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::refusal;
using testing::text_bytes;

Bytes with_header(const std::string& header, const Bytes& data) {
  Bytes bytes = text_bytes(header);
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

std::vector<int64_t> times_of(const std::vector<Event>& events) {
  std::vector<int64_t> times;
  for (const Event& event : events) times.push_back(event.time_us);
  return times;
}

TEST(Evt2, ReadsEventsWithTheTimeOfTheLastTimeWord) {
  const Bytes words = {
      0x03, 0x00, 0x00, 0x80,  // time high 3: 192 us
      0x07, 0x28, 0x40, 0x10,  // on, 1 us, x 5, y 7
      0xff, 0xff, 0xff, 0x0f,  // off, 63 us, x 2047, y 2047
      0x01, 0x01, 0x00, 0xa0,  // a trigger
      0x14, 0x00, 0x00, 0xe0,  // another kind of word
      0x00, 0x00, 0x00, 0xf0,  // and its continuation
      0x00, 0x00, 0x00, 0xd0,  // of an inertial sensor
      0x04, 0x00, 0x00, 0x80,  // time high 4: 256 us
      0x00, 0x08, 0x00, 0x00,  // off, 0 us, x 1, y 0
  };
  EXPECT_THAT(
      decode_evt2(words, 0, "file"),
      ElementsAre(Event{193, 5, 7, true}, Event{255, 2047, 2047, false}, Event{256, 1, 0, false}));
  EXPECT_THAT(decode_evt2({}, 0, "file"), IsEmpty());
}

TEST(Evt2, LeavesOutEventsBeforeTheFirstTimeWord) {
  const Bytes words = {
      0x07, 0x28, 0x40, 0x10,  // on, its time is not known
      0x01, 0x00, 0x00, 0x80,  // time high 1
      0x07, 0x28, 0x40, 0x10,
  };
  EXPECT_THAT(decode_evt2(words, 0, "file"), ElementsAre(Event{65, 5, 7, true}));
}

TEST(Evt2, UnwrapsThirtyFourBitsOfTime) {
  const Bytes words = {
      0xff, 0xff, 0xff, 0x8f,  // the last time high
      0x00, 0x00, 0xc0, 0x0f,  // 63 us
      0x00, 0x00, 0x00, 0x80,  // around
      0x00, 0x00, 0x40, 0x00,  // 1 us
      0xfe, 0xff, 0xff, 0x8f,  // a small step back, to before the wrap
      0x00, 0x00, 0x00, 0x00,
  };
  constexpr int64_t kCircleUs = int64_t{1} << 34;
  EXPECT_THAT(times_of(decode_evt2(words, 0, "file")),
              ElementsAre(kCircleUs - 1, kCircleUs + 1, kCircleUs - 128));
}

TEST(Evt2, RefusesUnknownAndHalfWords) {
  const Bytes words = {
      0x00, 0x00, 0x00, 0x80,  //
      0x00, 0x00, 0x00, 0x20,  // type 2
  };
  EXPECT_EQ(refusal([&] { decode_evt2(words, 0, "file"); }),
            "file has a word of type 2 at byte 4, which EVT 2.0 does not have");
  EXPECT_EQ(refusal([&] {
              decode_evt2({words.data(), 7}, 0, "file");
            }),
            "file ends in the middle of a word: 3 of 4 bytes at byte 4");
}

TEST(Evt3, ReadsPixelsOneByOne) {
  const Bytes words = {
      0x01, 0x80,  // time high 1: 4096 us
      0x05, 0x60,  // time low 5
      0x07, 0x00,  // y 7
      0x03, 0x28,  // x 3, on
      0xff, 0x27,  // x 2047, off
      0x06, 0x60,  // time low 6
      0xff, 0x07,  // y 2047
      0x00, 0x28,  // x 0, on
  };
  EXPECT_THAT(decode_evt3(words, 0, "file"),
              ElementsAre(Event{4101, 3, 7, true}, Event{4101, 2047, 7, false},
                          Event{4102, 0, 2047, true}));
  EXPECT_THAT(decode_evt3({}, 0, "file"), IsEmpty());
}

TEST(Evt3, ReadsVectorsOfTwelveAndEight) {
  const Bytes words = {
      0x00, 0x80,  // time high 0
      0x09, 0x60,  // time low 9
      0x02, 0x00,  // y 2
      0x64, 0x38,  // vectors begin at x 100, on
      0x01, 0x48,  // of twelve, the first and the last: x 100 and 111
      0x00, 0x40,  // of twelve, none: x 112 to 123
      0x81, 0x5f,  // of eight, the first and the last: x 124 and 131; four bits mean nothing
      0x05, 0x28,  // x 5, on: a single pixel does not move the vector
      0x02, 0x40,  // of twelve, the second: x 133
      0x0a, 0x30,  // vectors begin at x 10, off
      0x03, 0x50,  // of eight, the first two
  };
  EXPECT_THAT(decode_evt3(words, 0, "file"),
              ElementsAre(Event{9, 100, 2, true}, Event{9, 111, 2, true}, Event{9, 124, 2, true},
                          Event{9, 131, 2, true}, Event{9, 5, 2, true}, Event{9, 133, 2, true},
                          Event{9, 10, 2, false}, Event{9, 11, 2, false}));
}

TEST(Evt3, ARepeatedTimeHighKeepsTheLowBitsAndANewOneClearsThem) {
  const Bytes words = {
      0x01, 0x80,  // time high 1
      0x05, 0x60,  // time low 5
      0x00, 0x00,  // y 0
      0x00, 0x20,  // at 4096 + 5
      0x01, 0x80,  // time high 1 again
      0x00, 0x20,  // at 4096 + 5
      0x02, 0x80,  // time high 2
      0x00, 0x20,  // at 8192
  };
  EXPECT_THAT(times_of(decode_evt3(words, 0, "file")), ElementsAre(4101, 4101, 8192));
}

TEST(Evt3, UnwrapsTwentyFourBitsOfTime) {
  const Bytes words = {
      0xff, 0x8f,  // the last time high
      0xff, 0x6f,  // the last time low
      0x00, 0x00,  // y 0
      0x00, 0x20,  //
      0x00, 0x80,  // around
      0x03, 0x60,  //
      0x00, 0x20,  //
      0xff, 0x87,  // half of the circle on
      0x00, 0x20,  //
      0xfe, 0x8f,  // almost the other half
      0x00, 0x20,  //
      0x01, 0x80,  // around once more
      0x00, 0x20,  //
  };
  constexpr int64_t kCircleUs = 1 << 24;
  EXPECT_THAT(times_of(decode_evt3(words, 0, "file")),
              ElementsAre(kCircleUs - 1, kCircleUs + 3, kCircleUs + 0x7ff000, kCircleUs + 0xffe000,
                          2 * kCircleUs + 0x1000));
}

TEST(Evt3, LeavesOutWhatIsNotKnownYetAndWhatIsNoEventOfThisCamera) {
  const Bytes words = {
      0x00, 0x20,  // x 0: neither time nor y
      0x01, 0x80,  // time high 1
      0x00, 0x20,  // x 0: no y
      0x04, 0x00,  // y 4
      0xff, 0x4f,  // a vector without a beginning
      0x01, 0xa0,  // a trigger
      0x16, 0xe0,  // another kind of word
      0xff, 0xff,  // and its continuations
      0x0f, 0x70,  //
      0x00, 0xd0,  // of an inertial sensor
      0x01, 0x20,  // x 1
      0x05, 0x08,  // y 5 of a second camera
      0x02, 0x20,  // x 2
      0x06, 0x00,  // y 6
      0x03, 0x20,  // x 3
  };
  EXPECT_THAT(decode_evt3(words, 0, "file"),
              ElementsAre(Event{4096, 1, 4, false}, Event{4096, 3, 6, false}));
}

TEST(Evt3, RefusesImpossibleAndHalfWords) {
  EXPECT_EQ(refusal([] {
              decode_evt3(Bytes{0x00, 0x80, 0x00, 0x10}, 0, "file");
            }),
            "file has a word of type 1 at byte 2, which EVT 3.0 does not have");
  EXPECT_EQ(refusal([] {
              decode_evt3(Bytes{0x00, 0x80, 0x00}, 0, "file");
            }),
            "file ends in the middle of a word: 1 of 2 bytes at byte 2");
  const Bytes words = {
      0x00, 0x80,  // time high 0
      0x00, 0x00,  // y 0
      0xfe, 0x37,  // vectors begin at x 2046
      0x03, 0x40,  // x 2046 and 2047
      0x00, 0x50,  // none: as good as no vector
      0x10, 0x40,  // x 2070
  };
  EXPECT_EQ(refusal([&] { decode_evt3(words, 0, "file"); }),
            "file has a vector that reaches x 2070 at byte 10, expected at most 2047");
}

// Of a camera of 2023, with an end of the header, and of 2020, without.
TEST(RawFile, KnowsEncodingAndSensorFromItsHeader) {
  const Bytes evt3 = {0x01, 0x80, 0x07, 0x00, 0x03, 0x28};
  const Recording newer = parse_raw(with_header("% camera_integrator_name Prophesee\n"
                                                "% date 2023-03-29 16:37:46\n"
                                                "% evt 3.0\n"
                                                "% format EVT3;height=720;width=1280\n"
                                                "% generation 4.2\n"
                                                "% geometry 1280x720\n"
                                                "% end\n",
                                                evt3),
                                    "file");
  EXPECT_EQ(newer.sensor, (SensorSize{1280, 720}));
  EXPECT_THAT(newer.events, ElementsAre(Event{4096, 3, 7, true}));
  const Recording older =
      parse_raw(with_header("% Date 2020-09-14 09:03:25\r\n% system_ID 21\r\n% evt 2.0\r\n",
                            {0x03, 0x00, 0x00, 0x80, 0x07, 0x28, 0x40, 0x10}),
                "file");
  EXPECT_FALSE(older.sensor.known());
  EXPECT_THAT(older.events, ElementsAre(Event{193, 5, 7, true}));
  EXPECT_EQ(parse_raw(with_header("% evt 3.0\n% width 640\n% height 480\n", evt3), "file").sensor,
            (SensorSize{640, 480}));
  EXPECT_EQ(parse_raw(with_header("% format EVT3\n% geometry 320x320\n", evt3), "file").sensor,
            (SensorSize{320, 320}));
  // Data that look like a header line come after the end of the header.
  EXPECT_THAT(parse_raw(with_header("% evt 3.0\n% end\n", {'%', ' ', 0x0a, 0x80}), "file").events,
              IsEmpty());
}

TEST(RawFile, RefusesOtherEncodingsAndHeadersThatContradictThemselves) {
  const auto refused = [](const std::string& header) {
    return refusal([&] { parse_raw(text_bytes(header), "file"); });
  };
  EXPECT_EQ(refused("abc"), "file begins with 'ab', expected a header line that begins with '% '");
  EXPECT_EQ(refused(""), "file begins with '', expected a header line that begins with '% '");
  EXPECT_EQ(refused("% evt 3.0"), "file ends in the middle of the header line at byte 0");
  EXPECT_EQ(refused("% date 1\n"),
            "file has neither a line '% format' nor a line '% evt' in its header");
  EXPECT_EQ(refused("% format EVT21;height=720;width=1280\n"),
            "file is encoded as 'EVT21', expected EVT2 or EVT3");
  EXPECT_EQ(refused("% evt 2.1\n"), "file is encoded as 'EVT 2.1', expected EVT2 or EVT3");
  EXPECT_EQ(refused("% format EVT3\n% evt 2.0\n"),
            "file says in its header that it is EVT3 and that it is EVT2");
  EXPECT_EQ(refused("% format EVT3;width=640;height=480\n% geometry 320x320\n"),
            "file says in its header that the sensor has 640x480 pixels, and that it has 320x320");
  EXPECT_EQ(refused("% evt 3.0\n% geometry 640\n"),
            "file has the height '' in its header, expected a number of pixels from 1 to 16384");
  EXPECT_EQ(refused("% evt 3.0\n% geometry 0x480\n"),
            "file has the width '0' in its header, expected a number of pixels from 1 to 16384");
  EXPECT_EQ(refused("% format EVT2;width=99999\n"),
            "file has the width '99999' in its header, expected a number of pixels from 1 to "
            "16384");
  EXPECT_EQ(refused("% evt 3.0\n% endianness big\n"),
            "file says in its header that its words are of endianness 'big', expected little");
  std::string endless = "% evt 3.0\n";
  for (int i = 0; i < 10000; ++i) endless += "% line\n";
  EXPECT_EQ(refused(endless), "file has a header of more than 65536 bytes");
}

const char* const kDatHeader =
    "% Data file containing CD events.\n% Version 2\n% Date 2017-3-29 16:37:46\n"
    "% Height 240\n% Width 304\n";

TEST(DatFile, ReadsEventsOfEightBytes) {
  const Bytes data = {
      0x0c, 0x08,                                      // contrast events of 8 bytes
      0x10, 0x27, 0x00, 0x00, 0x2f, 0xc1, 0x3b, 0x10,  // 10000 us, x 303, y 239, on
      0x11, 0x27, 0x00, 0x00, 0x05, 0x80, 0x01, 0x00,  // 10001 us, x 5, y 6, off
      0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00,  // one before the wrap: a step back
      0x01, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0x1f,  // around; the largest x and y
  };
  const Recording recording = parse_dat(with_header(kDatHeader, data), "file");
  EXPECT_EQ(recording.sensor, (SensorSize{304, 240}));
  EXPECT_THAT(recording.events, ElementsAre(Event{10000, 303, 239, true}, Event{10001, 5, 6, false},
                                            Event{-1, 0, 0, false}, Event{1, 16383, 16383, true}));
  const Recording plain = parse_dat(with_header("% Version 2\n% end\n", {0x00, 0x08}), "file");
  EXPECT_FALSE(plain.sensor.known());
  EXPECT_THAT(plain.events, IsEmpty());
}

TEST(DatFile, UnwrapsThirtyTwoBitsOfTime) {
  const Bytes data = {
      0x00, 0x08,                                      //
      0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00,  //
      0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,  //
  };
  EXPECT_THAT(times_of(parse_dat(with_header(kDatHeader, data), "file").events),
              ElementsAre(0xffffffff, 0x100000002));
}

TEST(DatFile, RefusesOtherVersionsTypesAndHalfEvents) {
  const auto refused = [](const std::string& header, const Bytes& data) {
    return refusal([&] { parse_dat(with_header(header, data), "file"); });
  };
  EXPECT_EQ(refused("% Version 1\n", {}), "file has the version '1' in its header, expected 2");
  EXPECT_EQ(refused("% Width 3\n", {}), "file has the version '' in its header, expected 2");
  EXPECT_EQ(refused("% Version 2\n% Width 304\n", {0, 8}),
            "file has the Height '' in its header, expected a number of pixels from 1 to 16384");
  EXPECT_EQ(refused("% Version 2\n", {0}),
            "file ends at byte 13, expected the type and the size of its events there");
  EXPECT_EQ(refused("% Version 2\n", {14, 8}),
            "file has events of type 14 and 8 bytes, as byte 12 says, expected type 0 or 12 and 8");
  EXPECT_EQ(refused("% Version 2\n", {12, 16}),
            "file has events of type 12 and 16 bytes, as byte 12 says, expected type 0 or 12 and "
            "8");
  EXPECT_EQ(refused("% Version 2\n", {0, 8, 1, 2, 3}),
            "file ends in the middle of a word: 3 of 8 bytes at byte 14");
  EXPECT_EQ(refused("% Version 2\n", {0, 8, 1, 0, 0, 0, 0, 0, 0, 0x20}),
            "file has an event of polarity 2 at byte 14, expected 0 or 1");
}

}  // namespace
}  // namespace bntt
