#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "data/dataset.h"
#include "data/event_files.h"

namespace bntt {

/// The orientation of the camera: where a pixel of the sensor appears in the picture.
enum class SensorTurn {
  none,           ///< column x, row y
  half_and_swap,  ///< column last - y, row last - x: DVS-CIFAR10 is upright this way
};

struct FrameLayout {
  SensorSize sensor = {kDvs128Side, kDvs128Side};
  int64_t side = 42;  ///< of the frames: pixel p of n maps to p * side / n, in both directions
  SensorTurn turn = SensorTurn::none;
};

/// Counts the events of each interval: [frame, y, x, polarity], off before on; counts are limited
/// to 255. By time, event i falls into frame (t - first) * frames / (last - first + 1); by count,
/// into i * frames / events; in bins of fixed length, into (t - first) / bin_us, and is dropped if
/// there is no such frame. Returns the number of bins of the recording; 0 without bins. Throws
/// Error for a recording without events or longer than 12 days, and for an event outside the
/// sensor.
int64_t count_events(std::span<const Event> events, const FrameLayout& layout,
                     const FrameOptions& options, const std::string& origin, uint8_t* frames);

}  // namespace bntt
