#pragma once

#include <cstdint>
#include <span>

#include "kernels/spike_convolution.h"
#include "layers/synapses/frame_place.h"

namespace bntt {

/// Makes the currents of some frames of spikes, a row of a block of channels at a time, in any
/// order: only the caller knows whether they are to be stored or used at once.
class FrameRows {
 public:
  virtual ~FrameRows() = default;

  /// Must come before the frame's first row. Frames may be read in parallel.
  virtual void read(int64_t frame) = 0;

  virtual void write(int64_t frame, int64_t block, int64_t y,
                     const kernels::RowOutput& output) const = 0;
};

/// Calls visit(first, end) for every run of neighbours in an ascending list of frames.
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
