#include "layers/synapses/frame_rows.h"

#include <algorithm>

namespace bntt {

// One block of channels for all frames, so that its weights stay in cache.
void write_frames(FrameRows& rows, const MapShape& output, int64_t block_channels, int64_t first,
                  int64_t end, const FramePlace& place) {
  for (int64_t frame = first; frame < end; ++frame) rows.read(frame);
  for (int64_t channel = 0; channel < output.channels; channel += block_channels) {
    for (int64_t row = first * output.height; row < end * output.height; ++row) {
      const int64_t frame = row / output.height;
      const int64_t y = row % output.height;
      rows.write(frame, channel / block_channels, y,
                 {.data = place.frame(frame) + y * output.width * output.channels + channel,
                  .stride = output.channels,
                  .channels = std::min(block_channels, output.channels - channel)});
    }
  }
}

}  // namespace bntt
