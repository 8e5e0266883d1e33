#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bntt/error.h"
#include "data/event_frames.h"

namespace bntt::fuzz {

/// What events from a stranger go through on their way to the network.
inline void count(const std::vector<Event>& events, const FrameLayout& layout) {
  constexpr int64_t kFrames = 7;
  std::vector<uint8_t> frames(static_cast<std::size_t>(kFrames * layout.side * layout.side * 2));
  for (const Interval interval : {Interval::time, Interval::count}) {
    count_events(events, layout, {.frames = kFrames, .interval = interval}, "fuzz", frames.data());
  }
}

/// What a file from a stranger goes through. `parse` makes events of bytes and the name of the
/// file.
template <typename Parse>
void parse_and_count(const Parse& parse, std::span<const uint8_t> bytes,
                     const FrameLayout& layout) {
  try {
    count(parse(bytes, "fuzz"), layout);
  } catch (const Error&) {
  }
}

}  // namespace bntt::fuzz
