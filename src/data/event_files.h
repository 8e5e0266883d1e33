#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/sensor_size.h"

namespace bntt {

inline constexpr int64_t kDvs128Side = 128;
inline constexpr int64_t kNmnistSide = 34;

// All parsers: `origin` starts every error sentence; memory is proportional to the bytes given.
// Coordinates are as in the file: expect_inside checks whether the sensor has such pixels.

/// AEDAT 2.0 of a DVS128: header lines that begin with '#', then pairs of address and microseconds,
/// 32 bits each, big-endian. Address bits: 0 polarity (0 is on), 1-7 x, 8-14 y. An address with bit
/// 15 (a sync pulse) or bit 31 (other special events) is not a pixel and is skipped. The bits
/// between them belong to larger cameras, whose recordings are rejected: a DAVIS has x in bits
/// 12-21 and y in 22-30.
std::vector<Event> parse_aedat2(std::span<const uint8_t> bytes, const std::string& origin);

/// AEDAT 3.1: header lines up to #!END-HEADER, then packets; skips packets of types other than
/// polarity and events marked invalid.
std::vector<Event> parse_aedat3(std::span<const uint8_t> bytes, const std::string& origin);

/// The sensor of the camera that the header of an AEDAT 3.1 file names as its source; unknown if it
/// names none or a different one.
SensorSize aedat3_sensor(std::span<const uint8_t> bytes);

/// N-MNIST: 40 bits per event: x, y, polarity (1 is on) and 23 bits of microseconds, big-endian.
/// y = 240 marks an overflow of the ATIS camera's 13-bit counter.
std::vector<Event> parse_nmnist(std::span<const uint8_t> bytes, const std::string& origin);

/// Throws an Error that names the first event outside the sensor, if there is one.
void expect_inside(std::span<const Event> events, const SensorSize& sensor,
                   const std::string& origin);

/// A labelled segment of a DVS128 Gesture recording.
struct GestureSpan {
  int64_t label = 0;  ///< from 0; the files count from 1
  int64_t begin_us = 0;
  int64_t end_us = 0;
  bool operator==(const GestureSpan&) const = default;
};

/// The label table of a DVS128 Gesture recording: a line of names, then class,start,end.
std::vector<GestureSpan> parse_gesture_labels(std::string_view text, int64_t classes,
                                              const std::string& origin);

}  // namespace bntt
