#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "bntt/encoder.h"

namespace bntt {

/// How an image of a different size is brought to the size of the network's input.
enum class Fit {
  crop,     ///< scaled until it covers the network's map, then cropped to its centre
  squeeze,  ///< scaled to the network's map without preserving its proportions
};
/// The names of the values in settings and files.
constexpr auto enum_names(Fit) {
  return std::array{std::pair{Fit::crop, "crop"}, std::pair{Fit::squeeze, "squeeze"}};
}

/// How a recording is divided into frames.
enum class Interval {
  time,   ///< equal lengths of time
  count,  ///< equal numbers of events
};
/// The names of the values in settings and files.
constexpr auto enum_names(Interval) {
  return std::array{std::pair{Interval::time, "time"}, std::pair{Interval::count, "count"}};
}

/// How a recording becomes frames of counts.
struct FrameOptions {
  int64_t frames = 20;                 ///< per recording: one for each step
  Interval interval = Interval::time;  ///< the rule
  /// Instead of an interval: the length of every frame in microseconds, from the first event on.
  /// Frames after the last event are empty; events after the last frame are dropped.
  int64_t bin_us = 0;
  bool clip = false;  ///< at most one spike per pixel, polarity and frame, instead of counts
  bool operator==(const FrameOptions&) const = default;
};

/// How a sample becomes the input of a network. Model and Trainer throw Error unless it fits the
/// network, the enums have one of their values, `seed` is below 2^63, numbers are finite,
/// deviations that are used are above 0, `events.frames` is at most 65536 (and at least 1 for the
/// encoder `events`), and `events.bin_us` is not negative.
struct InputSpec {
  EncoderSpec encoder;  ///< how values become spikes or currents
  uint64_t seed = 1;    ///< of the spikes that the encoder draws
  Fit fit = Fit::crop;  ///< of images of a different size
  FrameOptions events;  ///< for event recordings
  bool operator==(const InputSpec&) const = default;
};

}  // namespace bntt
