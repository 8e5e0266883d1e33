#pragma once

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "data/sensor_size.h"

namespace bntt::testing {

struct SomeEvents {
  SensorSize sensor = {20, 10};
  int count = 500;
  int64_t longest_gap_us = 400;
  uint64_t seed = 1;
};

/// Events at random places, in the order of time; some share one.
inline Recording some_events(const SomeEvents& wanted = {}) {
  Recording recording{.sensor = wanted.sensor, .events = {}};
  int64_t time_us = 1'000'000;
  for (int i = 0; i < wanted.count; ++i) {
    const auto bits = draw4(wanted.seed, Purpose::shuffle, {.sample = static_cast<uint32_t>(i)});
    time_us += uniform_below(bits[0], static_cast<uint32_t>(wanted.longest_gap_us));
    recording.events.push_back({.time_us = time_us,
                                .x = static_cast<int16_t>(uniform_below(
                                    bits[1], static_cast<uint32_t>(wanted.sensor.width))),
                                .y = static_cast<int16_t>(uniform_below(
                                    bits[2], static_cast<uint32_t>(wanted.sensor.height))),
                                .on = bits[3] % 2 == 1});
  }
  return recording;
}

}  // namespace bntt::testing
