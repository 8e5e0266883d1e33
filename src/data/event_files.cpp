#include "data/event_files.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/fail.h"
#include "base/text.h"
#include "data/event_bytes.h"

namespace bntt {
namespace {

constexpr std::string_view kAedat3HeaderEnd = "#!END-HEADER";

void expect_start(std::string_view text, std::string_view start, const std::string& origin) {
  if (!text.starts_with(start)) {
    fail("{} begins with '{}', expected '{}'", origin,
         excerpt(text.substr(0, std::min(text.size(), start.size()))), start);
  }
}

struct Packet {
  static constexpr std::size_t kHeaderBytes = 28;
  int type;
  uint32_t event_bytes;
  uint32_t time_offset;
  uint32_t time_overflow;
  uint32_t events;
};

Packet packet_header(const uint8_t* bytes) {
  return {.type = bytes[0] | bytes[1] << 8,
          .event_bytes = little_endian32(bytes + 4),
          .time_offset = little_endian32(bytes + 8),
          .time_overflow = little_endian32(bytes + 12),
          .events = little_endian32(bytes + 20)};
}

}  // namespace

std::vector<Event> parse_aedat2(std::span<const uint8_t> bytes, const std::string& origin) {
  constexpr std::size_t kEventBytes = 8;
  constexpr uint32_t kLargestPixel = 0x7fff;
  constexpr uint32_t kLargestAddress = 0xffff;
  constexpr uint32_t kSpecial = 0x80000000;
  const std::string_view text = text_of(bytes);
  expect_start(text, "#!AER-DAT2.0", origin);
  std::size_t begin = 0;
  while (begin < text.size() && text[begin] == '#') begin = next_line(text, begin);
  const std::span<const uint8_t> data = bytes.subspan(begin);
  if (data.size() % kEventBytes != 0) {
    fail("{} ends in the middle of an event: {} bytes of events, expected a multiple of {}", origin,
         data.size(), kEventBytes);
  }
  std::vector<Event> events;
  events.reserve(data.size() / kEventBytes);
  UnwrappedCounter time(32);
  for (std::size_t i = 0; i < data.size(); i += kEventBytes) {
    const uint32_t address = big_endian32(data.data() + i);
    const int64_t time_us = time(big_endian32(data.data() + i + 4));
    if (address < kSpecial && address > kLargestAddress) {
      fail(
          "{} has an event with the address {:#x}, expected at most {:#x}: its camera is not a "
          "DVS128 but a larger one, perhaps a DAVIS",
          origin, address, kLargestAddress);
    }
    if (address > kLargestPixel) continue;
    events.push_back({.time_us = time_us,
                      .x = static_cast<int16_t>(address >> 1 & 0x7f),
                      .y = static_cast<int16_t>(address >> 8 & 0x7f),
                      .on = (address & 1) == 0});
  }
  return events;
}

std::vector<Event> parse_aedat3(std::span<const uint8_t> bytes, const std::string& origin) {
  constexpr int kPolarityType = 1;
  constexpr uint32_t kPolarityBytes = 8;
  const std::string_view text = text_of(bytes);
  expect_start(text, "#!AER-DAT3.1", origin);
  std::size_t place = 0;
  bool ended = false;
  while (!ended && place < text.size() && text[place] == '#') {
    ended = text.substr(place).starts_with(kAedat3HeaderEnd);
    place = next_line(text, place);
  }
  if (!ended) fail("{} has no line '{}' at the end of its header", origin, kAedat3HeaderEnd);

  std::vector<Event> events;
  while (place < bytes.size()) {
    if (bytes.size() - place < Packet::kHeaderBytes) {
      fail("{} ends in the middle of a packet's header, at byte {}", origin, place);
    }
    const Packet packet = packet_header(bytes.data() + place);
    place += Packet::kHeaderBytes;
    const uint64_t size = uint64_t{packet.event_bytes} * packet.events;
    if (size > bytes.size() - place) {
      fail("{} announces a packet of {} bytes at byte {}, but only {} are left", origin, size,
           place, bytes.size() - place);
    }
    if (packet.type == kPolarityType) {
      if (packet.event_bytes != kPolarityBytes || packet.time_offset != 4) {
        fail("{} has polarity events of {} bytes with the time at byte {}, expected {} and 4",
             origin, packet.event_bytes, packet.time_offset, kPolarityBytes);
      }
      for (uint64_t i = 0; i < packet.events; ++i) {
        const uint8_t* event = bytes.data() + place + i * kPolarityBytes;
        const uint32_t data = little_endian32(event);
        if ((data & 1) == 0) continue;
        const auto time_us =
            static_cast<int64_t>((uint64_t{packet.time_overflow & 0x7fffffffU} << 31) |
                                 (little_endian32(event + 4) & 0x7fffffffU));
        events.push_back({.time_us = time_us,
                          .x = static_cast<int16_t>(data >> 17),
                          .y = static_cast<int16_t>(data >> 2 & 0x7fff),
                          .on = (data >> 1 & 1) != 0});
      }
    }
    place += size;
  }
  return events;
}

SensorSize aedat3_sensor(std::span<const uint8_t> bytes) {
  struct Camera {
    std::string_view name;  // a prefix: models have further letters
    SensorSize sensor;
  };
  constexpr std::array kCameras = {Camera{"DVS128", {128, 128}}, Camera{"DAVIS128", {128, 128}},
                                   Camera{"DAVIS240", {240, 180}}, Camera{"DAVIS346", {346, 260}},
                                   Camera{"DAVIS640", {640, 480}}};
  const std::string_view text = text_of(bytes);
  for (std::size_t begin = 0; begin < text.size() && text[begin] == '#';) {
    const std::size_t end = next_line(text, begin);
    const std::string_view line = text.substr(begin, end - begin);
    begin = end;
    if (line.starts_with(kAedat3HeaderEnd)) break;
    const std::size_t colon = line.find(": ");
    if (!line.starts_with("#Source ") || colon == std::string_view::npos) continue;
    const std::string_view source = line.substr(colon + 2);
    for (const Camera& camera : kCameras) {
      if (source.starts_with(camera.name)) return camera.sensor;
    }
  }
  return {};
}

std::vector<Event> parse_nmnist(std::span<const uint8_t> bytes, const std::string& origin) {
  constexpr std::size_t kEventBytes = 5;
  constexpr uint8_t kOverflowRow = 240;
  constexpr int64_t kOverflowUs = 1 << 13;
  if (bytes.size() % kEventBytes != 0) {
    fail("{} holds {} bytes, expected a multiple of {}", origin, bytes.size(), kEventBytes);
  }
  std::vector<Event> events;
  events.reserve(bytes.size() / kEventBytes);
  UnwrappedCounter time(23);
  int64_t overflow_us = 0;
  for (std::size_t i = 0; i < bytes.size(); i += kEventBytes) {
    const uint8_t* event = bytes.data() + i;
    if (event[1] == kOverflowRow) {
      overflow_us += kOverflowUs;
      continue;
    }
    const int64_t counter = (event[2] & 0x7f) << 16 | event[3] << 8 | event[4];
    events.push_back({.time_us = time(counter) + overflow_us,
                      .x = event[0],
                      .y = event[1],
                      .on = event[2] >> 7 != 0});
  }
  return events;
}

void expect_inside(std::span<const Event> events, const SensorSize& sensor,
                   const std::string& origin) {
  const auto outside = std::ranges::find_if(events, [&](const Event& event) {
    return event.x < 0 || event.y < 0 || event.x >= sensor.width || event.y >= sensor.height;
  });
  if (outside != events.end()) {
    fail("{} has event {} at x {}, y {}, outside its sensor of {}x{} pixels", origin,
         outside - events.begin(), outside->x, outside->y, sensor.width, sensor.height);
  }
}

std::vector<GestureSpan> parse_gesture_labels(std::string_view text, int64_t classes,
                                              const std::string& origin) {
  std::vector<GestureSpan> spans;
  std::size_t begin = next_line(text, 0);
  for (int64_t line = 2; begin < text.size(); ++line) {
    const std::size_t end = next_line(text, begin);
    const std::string_view row = text.substr(begin, end - begin);
    begin = end;
    if (row.find_first_not_of("\r\n") == std::string_view::npos) continue;
    GestureSpan span;
    const char* place = row.data();
    const char* row_end = row.data() + row.size();
    bool good = true;
    for (int64_t* number : {&span.label, &span.begin_us, &span.end_us}) {
      const auto [after, error] = std::from_chars(place, row_end, *number);
      good = good && error == std::errc{};
      place = after < row_end && *after == ',' ? after + 1 : after;
    }
    if (!good || span.label < 1 || span.label > classes || span.begin_us < 0 ||
        span.end_us <= span.begin_us) {
      fail("{}: line {} is '{}', expected a class from 1 to {}, a start and a later end", origin,
           line, excerpt(row.substr(0, row.find_first_of("\r\n"))), classes);
    }
    --span.label;
    spans.push_back(span);
  }
  return spans;
}

}  // namespace bntt
