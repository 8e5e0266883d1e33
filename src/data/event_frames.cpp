#include "data/event_frames.h"

#include <algorithm>
#include <limits>

#include "base/fail.h"

namespace bntt {

int64_t count_events(std::span<const Event> events, const FrameLayout& layout,
                     const FrameOptions& options, const std::string& origin, uint8_t* frames) {
  constexpr int64_t kPolarities = 2;
  constexpr int64_t kLongestUs = int64_t{1}
                                 << 40;  // times the number of frames, it fits into 64 bits
  if (events.empty()) fail("{} holds no events, expected at least one", origin);
  expect_inside(events, layout.sensor, origin);
  const auto [first, last] = std::ranges::minmax_element(events, {}, &Event::time_us);
  const int64_t begin_us = first->time_us;
  int64_t span_us = 0;
  const bool overflow = __builtin_sub_overflow(last->time_us, begin_us, &span_us) ||
                        __builtin_add_overflow(span_us, 1, &span_us);
  if (overflow || span_us > kLongestUs) {
    fail("{} lasts {} microseconds, expected at most {}", origin,
         overflow ? "too many" : std::to_string(span_us), kLongestUs);
  }
  const int64_t size = layout.side * layout.side * kPolarities;
  std::fill_n(frames, options.frames * size, uint8_t{0});
  const auto count = static_cast<int64_t>(events.size());
  const SensorSize& sensor = layout.sensor;
  const bool turned = layout.turn == SensorTurn::half_and_swap;
  const int64_t columns = turned ? sensor.height : sensor.width;
  const int64_t rows = turned ? sensor.width : sensor.height;
  const uint8_t most = options.clip ? 1 : std::numeric_limits<uint8_t>::max();
  for (int64_t i = 0; i < count; ++i) {
    const Event& event = events[i];
    const int64_t since_us = event.time_us - begin_us;
    const int64_t frame = options.bin_us > 0                   ? since_us / options.bin_us
                          : options.interval == Interval::time ? since_us * options.frames / span_us
                                                               : i * options.frames / count;
    if (frame >= options.frames) continue;  // after the last bin
    const int64_t column = turned ? columns - 1 - event.y : event.x;
    const int64_t row = turned ? rows - 1 - event.x : event.y;
    const int64_t x = column * layout.side / columns;
    const int64_t y = row * layout.side / rows;
    uint8_t& cell = frames[frame * size + (y * layout.side + x) * kPolarities + (event.on ? 1 : 0)];
    if (cell < most) ++cell;
  }
  return options.bin_us > 0 ? (span_us - 1) / options.bin_us + 1 : 0;
}

}  // namespace bntt
