#pragma once

#include <cstdint>
#include <vector>

#include "data/sensor_size.h"

namespace bntt {

/// Tells events that have company from those of a noisy pixel.
class NoiseFilter {
 public:
  NoiseFilter(const SensorSize& sensor, int64_t window_us);

  /// Whether one of the event's eight neighbours fired less than the window ago. Events come in the
  /// order of time.
  bool keep(const Event& event);

 private:
  int64_t width_;  // with a margin of one pixel at every side
  int64_t window_us_;
  std::vector<int64_t> last_us_;  // [y, x]
};

/// The events that the filter keeps; all of them for a window of 0.
std::vector<Event> without_noise(const Recording& recording, int64_t window_us);

}  // namespace bntt
