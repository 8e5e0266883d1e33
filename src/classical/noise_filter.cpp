#include "classical/noise_filter.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace bntt {

NoiseFilter::NoiseFilter(const SensorSize& sensor, int64_t window_us)
    : width_(sensor.width + 2),
      window_us_(window_us),
      last_us_(static_cast<std::size_t>(width_ * (sensor.height + 2)),
               std::numeric_limits<int64_t>::min()) {}

bool NoiseFilter::keep(const Event& event) {
  int64_t* pixel = last_us_.data() + (event.y + 1) * width_ + event.x + 1;
  bool company = false;
  for (int64_t dy = -1; dy <= 1; ++dy) {
    for (int64_t dx = -1; dx <= 1; ++dx) {
      // Not written as a difference, which would overflow if there was no event.
      const bool recent = pixel[dy * width_ + dx] > event.time_us - window_us_;
      company = company || (recent && (dx != 0 || dy != 0));
    }
  }
  *pixel = event.time_us;
  return company;
}

std::vector<Event> without_noise(const Recording& recording, int64_t window_us) {
  if (window_us == 0) return recording.events;
  NoiseFilter filter(recording.sensor, window_us);
  std::vector<Event> kept;
  std::ranges::copy_if(recording.events, std::back_inserter(kept),
                       [&](const Event& event) { return filter.keep(event); });
  return kept;
}

}  // namespace bntt
