#pragma once

#include <cstdint>
#include <vector>

#include "data/sensor_size.h"

namespace bntt {

/// Distinguishes events with recent neighbours from those of noisy pixels.
class NoiseFilter {
 public:
  NoiseFilter(const SensorSize& sensor, int64_t window_us);

  /// Whether one of the event's eight neighbours fired within the window before it. Events must be
  /// in order of time.
  bool keep(const Event& event);

 private:
  int64_t width_;  // including a margin of one pixel on each side
  int64_t window_us_;
  std::vector<int64_t> last_us_;  // [y, x]
};

/// The events that the filter keeps; all of them for a window of 0.
std::vector<Event> without_noise(const Recording& recording, int64_t window_us);

}  // namespace bntt
