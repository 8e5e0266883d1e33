#include "data/prophesee_files.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "base/fail.h"
#include "base/text.h"
#include "data/event_bytes.h"

namespace bntt {
namespace {

struct Header {
  std::map<std::string_view, std::string_view> values;  ///< by key; views into the file
  std::size_t end = 0;                                  ///< where the data begin

  std::string_view value(std::string_view key) const {
    const auto found = values.find(key);
    return found == values.end() ? std::string_view() : found->second;
  }
};

Header header_of(std::span<const uint8_t> bytes, const std::string& origin) {
  constexpr std::size_t kLargestHeader = 1 << 16;
  const std::string_view text = text_of(bytes);
  Header header;
  while (text.substr(header.end).starts_with("% ")) {
    const std::size_t line_end = text.find('\n', header.end);
    if (line_end == std::string_view::npos) {
      fail("{} ends in the middle of the header line at byte {}", origin, header.end);
    }
    std::string_view line = text.substr(header.end + 2, line_end - header.end - 2);
    header.end = line_end + 1;
    if (header.end > kLargestHeader) {
      fail("{} has a header of more than {} bytes", origin, kLargestHeader);
    }
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line == "end") break;
    const std::size_t key_end = std::min(line.find(' '), line.size());
    std::string_view value = line.substr(key_end);
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    header.values[line.substr(0, key_end)] = value;
  }
  if (header.values.empty()) {
    fail("{} begins with '{}', expected a header line that begins with '% '", origin,
         excerpt(text.substr(0, 2)));
  }
  return header;
}

int64_t side_of(std::string_view text, std::string_view key, const std::string& origin) {
  int64_t side = 0;
  const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), side);
  if (error != std::errc{} || after != text.data() + text.size() || side < 1 ||
      side > kLargestSensorSide) {
    fail("{} has the {} '{}' in its header, expected a number of pixels from 1 to {}", origin, key,
         excerpt(text), kLargestSensorSide);
  }
  return side;
}

/// Two header lines may repeat a size but not contradict each other.
void merge(const SensorSize& more, SensorSize& sensor, const std::string& origin) {
  if (sensor.known() && sensor != more) {
    fail("{} says in its header that the sensor has {}x{} pixels, and that it has {}x{}", origin,
         sensor.width, sensor.height, more.width, more.height);
  }
  sensor = more;
}

/// Reads lines such as "Width 304" and "Height 240".
void merge_sides(const Header& header, const char* width, const char* height, SensorSize& sensor,
                 const std::string& origin) {
  const std::string_view width_text = header.value(width);
  const std::string_view height_text = header.value(height);
  if (width_text.empty() && height_text.empty()) return;
  merge({side_of(width_text, width, origin), side_of(height_text, height, origin)}, sensor, origin);
}

/// EVT3;height=720;width=1280
struct RawFormat {
  std::string_view encoding;
  std::string_view width;
  std::string_view height;
};

RawFormat raw_format(std::string_view text) {
  RawFormat format{.encoding = text.substr(0, text.find(';')), .width = {}, .height = {}};
  while (text.find(';') != std::string_view::npos) {
    text.remove_prefix(text.find(';') + 1);
    const std::string_view option = text.substr(0, text.find(';'));
    if (option.starts_with("width=")) format.width = option.substr(6);
    if (option.starts_with("height=")) format.height = option.substr(7);
  }
  return format;
}

/// EVT2, EVT3, or whatever else the header says.
std::string encoding_of(const Header& header, const RawFormat& format, const std::string& origin) {
  const std::string_view older = header.value("evt");
  std::string of_older = "EVT " + std::string(older);
  if (older == "2.0") of_older = "EVT2";
  if (older == "3.0") of_older = "EVT3";
  if (format.encoding.empty()) {
    if (older.empty()) {
      fail("{} has neither a line '% format' nor a line '% evt' in its header", origin);
    }
    return of_older;
  }
  if (!older.empty() && of_older != format.encoding) {
    fail("{} says in its header that it is {} and that it is {}", origin, excerpt(format.encoding),
         excerpt(of_older));
  }
  return std::string(format.encoding);
}

SensorSize raw_sensor(const Header& header, const RawFormat& format, const std::string& origin) {
  SensorSize sensor;
  if (!format.width.empty() || !format.height.empty()) {
    merge({side_of(format.width, "width", origin), side_of(format.height, "height", origin)},
          sensor, origin);
  }
  const std::string_view geometry = header.value("geometry");
  if (!geometry.empty()) {
    const std::size_t x = std::min(geometry.find('x'), geometry.size());
    const std::string_view height = geometry.substr(std::min(x + 1, geometry.size()));
    merge({side_of(geometry.substr(0, x), "width", origin), side_of(height, "height", origin)},
          sensor, origin);
  }
  merge_sides(header, "width", "height", sensor, origin);
  return sensor;
}

void expect_whole(std::span<const uint8_t> bytes, std::size_t begin, std::size_t word_bytes,
                  const std::string& origin) {
  const std::size_t left = (bytes.size() - begin) % word_bytes;
  if (left != 0) {
    fail("{} ends in the middle of a word: {} of {} bytes at byte {}", origin, left, word_bytes,
         bytes.size() - left);
  }
}

void add(const Event& event, std::vector<Event>& events, const std::string& origin) {
  if (events.size() == kMostEvents) {
    fail("{} holds more than {} events, expected a shorter recording", origin, kMostEvents);
  }
  events.push_back(event);
}

[[noreturn]] void refuse_type(uint32_t type, std::size_t place, const char* format,
                              const std::string& origin) {
  fail("{} has a word of type {} at byte {}, which {} does not have", origin, type, place, format);
}

/// The state after the EVT 3.0 words read so far.
class Evt3State {
 public:
  Evt3State(const std::string& origin, std::vector<Event>& events)
      : origin_(origin), events_(events) {}

  void row(uint32_t payload) {
    constexpr uint32_t kSecondCamera = 1U << 11;
    y_ = (payload & kSecondCamera) == 0 ? static_cast<int64_t>(payload) : kUnknown;
  }
  void pixel(uint32_t payload) const { event(payload & 0x7ff, payload >> 11 != 0); }
  void vector_base(uint32_t payload) {
    vector_x_ = payload & 0x7ff;
    vector_on_ = payload >> 11 != 0;
  }
  void vector(uint32_t bits, int64_t count, std::size_t place) {
    constexpr int64_t kColumns = 1 << 11;
    if (vector_x_ == kUnknown) return;
    for (int64_t i = 0; i < count; ++i) {
      if ((bits >> i & 1) == 0) continue;
      if (vector_x_ + i >= kColumns) {
        fail("{} has a vector that reaches x {} at byte {}, expected at most {}", origin_,
             vector_x_ + i, place, kColumns - 1);
      }
      event(vector_x_ + i, vector_on_);
    }
    vector_x_ += count;
  }
  void time_low(uint32_t payload) { low_us_ = payload; }
  void time_high(uint32_t payload) {
    const int64_t high = unwrapped_high_(payload);
    // The camera repeats these words; only a new value resets the low bits.
    if (!timed_ || high != high_) low_us_ = 0;
    high_ = high;
    timed_ = true;
  }

 private:
  static constexpr int64_t kUnknown = -1;

  void event(int64_t x, bool on) const {
    if (!timed_ || y_ == kUnknown) return;
    add({.time_us = high_ * 4096 + low_us_,
         .x = static_cast<int16_t>(x),
         .y = static_cast<int16_t>(y_),
         .on = on},
        events_, origin_);
  }

  const std::string& origin_;
  std::vector<Event>& events_;
  UnwrappedCounter unwrapped_high_{12};
  bool timed_ = false;
  int64_t high_ = 0;  ///< in units of 4096 microseconds
  int64_t low_us_ = 0;
  int64_t y_ = kUnknown;
  int64_t vector_x_ = kUnknown;
  bool vector_on_ = false;
};

}  // namespace

std::vector<Event> decode_evt2(std::span<const uint8_t> bytes, std::size_t begin,
                               const std::string& origin) {
  constexpr std::size_t kWordBytes = 4;
  enum : uint32_t {
    kOff = 0,
    kOn = 1,
    kTimeHigh = 8,
    kTrigger = 10,
    kImu = 13,
    kOther = 14,
    kMore
  };
  expect_whole(bytes, begin, kWordBytes, origin);
  std::vector<Event> events;
  UnwrappedCounter unwrapped_high(28);
  std::optional<int64_t> high;  // in units of 64 microseconds
  for (std::size_t place = begin; place < bytes.size(); place += kWordBytes) {
    const uint32_t word = little_endian32(bytes.data() + place);
    const uint32_t type = word >> 28;
    switch (type) {
      case kOff:
      case kOn:
        if (!high) break;
        add({.time_us = *high * 64 + (word >> 22 & 0x3f),
             .x = static_cast<int16_t>(word >> 11 & 0x7ff),
             .y = static_cast<int16_t>(word & 0x7ff),
             .on = type == kOn},
            events, origin);
        break;
      case kTimeHigh:
        high = unwrapped_high(word & 0x0fffffff);
        break;
      case kTrigger:
      case kImu:
      case kOther:
      case kMore:
        break;
      default:
        refuse_type(type, place, "EVT 2.0", origin);
    }
  }
  return events;
}

std::vector<Event> decode_evt3(std::span<const uint8_t> bytes, std::size_t begin,
                               const std::string& origin) {
  constexpr std::size_t kWordBytes = 2;
  enum : uint32_t {
    kRow = 0,
    kPixel = 2,
    kVectorBase = 3,
    kVector12 = 4,
    kVector8 = 5,
    kTimeLow = 6,
    kMore4 = 7,
    kTimeHigh = 8,
    kTrigger = 10,
    kImu = 13,
    kOther = 14,
    kMore12 = 15
  };
  expect_whole(bytes, begin, kWordBytes, origin);
  std::vector<Event> events;
  Evt3State state(origin, events);
  for (std::size_t place = begin; place < bytes.size(); place += kWordBytes) {
    const uint32_t word = little_endian16(bytes.data() + place);
    const uint32_t type = word >> 12;
    const uint32_t payload = word & 0xfff;
    switch (type) {
      case kRow:
        state.row(payload);
        break;
      case kPixel:
        state.pixel(payload);
        break;
      case kVectorBase:
        state.vector_base(payload);
        break;
      case kVector12:
        state.vector(payload, 12, place);
        break;
      case kVector8:
        state.vector(payload & 0xff, 8, place);
        break;
      case kTimeLow:
        state.time_low(payload);
        break;
      case kTimeHigh:
        state.time_high(payload);
        break;
      case kMore4:
      case kTrigger:
      case kImu:
      case kOther:
      case kMore12:
        break;
      default:
        refuse_type(type, place, "EVT 3.0", origin);
    }
  }
  return events;
}

Recording parse_raw(std::span<const uint8_t> bytes, const std::string& origin) {
  const Header header = header_of(bytes, origin);
  const RawFormat format = raw_format(header.value("format"));
  const std::string encoding = encoding_of(header, format, origin);
  if (encoding != "EVT2" && encoding != "EVT3") {
    fail("{} is encoded as '{}', expected EVT2 or EVT3", origin, excerpt(encoding));
  }
  const std::string_view endianness = header.value("endianness");
  if (!endianness.empty() && endianness != "little") {
    fail("{} says in its header that its words are of endianness '{}', expected little", origin,
         excerpt(endianness));
  }
  return {.sensor = raw_sensor(header, format, origin),
          .events = encoding == "EVT2" ? decode_evt2(bytes, header.end, origin)
                                       : decode_evt3(bytes, header.end, origin)};
}

Recording parse_dat(std::span<const uint8_t> bytes, const std::string& origin) {
  constexpr std::size_t kEventBytes = 8;
  constexpr uint8_t kPlainEvent = 0x00;
  constexpr uint8_t kContrastEvent = 0x0c;
  const Header header = header_of(bytes, origin);
  if (header.value("Version") != "2") {
    fail("{} has the version '{}' in its header, expected 2", origin,
         excerpt(header.value("Version")));
  }
  Recording recording;
  merge_sides(header, "Width", "Height", recording.sensor, origin);
  if (bytes.size() - header.end < 2) {
    fail("{} ends at byte {}, expected the type and the size of its events there", origin,
         bytes.size());
  }
  const uint8_t type = bytes[header.end];
  const uint8_t size = bytes[header.end + 1];
  if ((type != kPlainEvent && type != kContrastEvent) || size != kEventBytes) {
    fail("{} has events of type {} and {} bytes, as byte {} says, expected type {} or {} and {}",
         origin, type, size, header.end, kPlainEvent, kContrastEvent, kEventBytes);
  }
  const std::size_t begin = header.end + 2;
  expect_whole(bytes, begin, kEventBytes, origin);
  recording.events.reserve((bytes.size() - begin) / kEventBytes);
  UnwrappedCounter time(32);
  for (std::size_t place = begin; place < bytes.size(); place += kEventBytes) {
    const uint32_t pixel = little_endian32(bytes.data() + place + 4);
    const uint32_t polarity = pixel >> 28;
    if (polarity > 1) {
      fail("{} has an event of polarity {} at byte {}, expected 0 or 1", origin, polarity, place);
    }
    add({.time_us = time(little_endian32(bytes.data() + place)),
         .x = static_cast<int16_t>(pixel & 0x3fff),
         .y = static_cast<int16_t>(pixel >> 14 & 0x3fff),
         .on = polarity == 1},
        recording.events, origin);
  }
  return recording;
}

}  // namespace bntt
