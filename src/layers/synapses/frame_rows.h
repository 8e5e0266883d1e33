#pragma once

#include <cstdint>
#include <span>

#include "kernels/spike_convolution.h"
#include "layers/synapses/frame_place.h"

namespace bntt {

/// Computes the currents of some frames of spikes, one row of a block of channels at a time, in any
/// order. The caller decides whether to store them or to use them at once.
class FrameRows {
 public:
  virtual ~FrameRows() = default;

  /// Must be called before the frame's first row. Frames may be read in parallel.
  virtual void read(int64_t frame) = 0;

  virtual void write(int64_t frame, int64_t block, int64_t y,
                     const kernels::RowOutput& output) const = 0;
};

/// Calls visit(first, end) for every run of consecutive frames in an ascending list.
template <typename Visit>
void for_each_run(std::span<const int64_t> frames, const Visit& visit) {
  for (std::size_t i = 0; i < frames.size();) {
    std::size_t end = i + 1;
    while (end < frames.size() && frames[end] == frames[end - 1] + 1) ++end;
    visit(frames[i], frames[end - 1] + 1);
    i = end;
  }
}

/// Reads and writes frames [first, end) on this thread: [frame, y, x, channel].
void write_frames(FrameRows& rows, const MapShape& output, int64_t block_channels, int64_t first,
                  int64_t end, const FramePlace& place);

}  // namespace bntt
