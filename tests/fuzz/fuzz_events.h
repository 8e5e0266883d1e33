#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bntt/error.h"
#include "data/event_frames.h"

namespace bntt::fuzz {

/// What a file from a stranger goes through on its way to the network.
inline void parse_and_count(std::vector<Event> (*parse)(std::span<const uint8_t>,
                                                        const std::string&),
                            std::span<const uint8_t> bytes, const FrameLayout& layout) {
  constexpr int64_t kFrames = 7;
  std::vector<uint8_t> frames(static_cast<std::size_t>(kFrames * layout.side * layout.side * 2));
  try {
    const std::vector<Event> events = parse(bytes, "fuzz");
    for (const Interval interval : {Interval::time, Interval::count}) {
      count_events(events, layout, {.frames = kFrames, .interval = interval}, "fuzz",
                   frames.data());
    }
  } catch (const Error&) {
  }
}

}  // namespace bntt::fuzz
