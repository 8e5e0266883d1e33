#pragma once

#include <cstdint>

#include "base/threads.h"

namespace bntt {

/// The memory of some consecutive frames' maps, one after the other.
struct FramePlace {
  float* data = nullptr;
  int64_t first = 0;  // the frame at `data`
  int64_t size = 0;   // floats of a frame

  float* frame(int64_t f) const { return data + (f - first) * size; }

  /// Frames from `first` on in a map of all frames; if `all` is null, scratch of this thread for
  /// `count` of them.
  static FramePlace of_chunk(float* all, int64_t first, int64_t count, int64_t size) {
    return {
        all != nullptr ? all + first * size : thread_scratch(ScratchSlot::currents, count * size),
        first, size};
  }
};

}  // namespace bntt
