#include "layers/conv_walk.h"

#include <algorithm>

#include "base/threads.h"
#include "kernels/kernel_set.h"
#include "layers/gradient_parts.h"
#include "layers/unpacked_frames.h"

namespace bntt {
namespace {

// The bordered gradient of a block should stay in the second-level cache, and give each channel a
// few dozen spikes. By the shape alone, not by the kernel set's block: sums must not depend on the
// instruction set.
int64_t frames_per_gradient_walk(const kernels::SpikeConvolution& convolution) {
  constexpr int64_t kCacheFloats = 1 << 16;
  const MapShape map = convolution.map.pooled();
  const int64_t channels = std::min<int64_t>(64, convolution.output_channels);
  return std::max<int64_t>(1, kCacheFloats / ((map.height + 2) * (map.width + 2) * channels));
}

kernels::SpikePlane plane_of(const SpikeTrain& spikes, int64_t plane, int64_t first,
                             int64_t frames) {
  return {spikes.frame(plane, 0, 0) + first * spikes.words_per_frame(),
          spikes.plane_weights()[plane], frames};
}

/// One block of channels of [frame, y, x, channel], with a zero border: [frame, y + 2, x + 2,
/// channel of the block].
void copy_bordered(const MapShape& map, int64_t frames, int64_t first_channel, int64_t width,
                   const float* values, float* bordered) {
  const int64_t count = std::min(width, map.channels - first_channel);
  const int64_t row = (map.width + 2) * width;
  for (int64_t frame = 0; frame < frames; ++frame) {
    bordered = std::fill_n(bordered, row, 0.0F);
    for (int64_t y = 0; y < map.height; ++y) {
      bordered = std::fill_n(bordered, width, 0.0F);
      for (int64_t x = 0; x < map.width; ++x) {
        const float* pixel =
            values + ((frame * map.height + y) * map.width + x) * map.channels + first_channel;
        bordered = std::copy_n(pixel, count, bordered);
        bordered = std::fill_n(bordered, width - count, 0.0F);
      }
      bordered = std::fill_n(bordered, width, 0.0F);
    }
    bordered = std::fill_n(bordered, row, 0.0F);
  }
}

}  // namespace

ConvWalk::ConvWalk(const StagePlan& plan)
    : output_(plan.output),
      shape_{pool_of(plan), plan.output.channels,
             kernels::kernels().channels_per_block(plan.output.channels)} {}

Buffer<float> ConvWalk::pack(const float* weights) const {
  Buffer<float> packed(shape_.packed_size());
  kernels::pack_spike_weights(shape_, weights, packed.data());
  return packed;
}

void ConvWalk::forward(const SpikeTrain& input, int64_t first, int64_t count, int64_t most_frames,
                       const float* packed_weights, float* current) const {
  const kernels::SpikeLists lists{
      thread_scratch<int32_t>(ScratchSlot::starts,
                              kernels::pixel_list_starts(shape_.map, most_frames)),
      thread_scratch<int32_t>(ScratchSlot::entries,
                              kernels::list_entries(shape_.map, most_frames))};
  for (int64_t p = 0; p < input.planes(); ++p) {
    const kernels::SpikePlane plane = plane_of(input, p, first, count);
    kernels::list_by_pixel(shape_.map, plane, lists);
    kernels::kernels().spike_conv_forward(shape_, plane, lists, packed_weights, p > 0,
                                          current + first * output_.size());
  }
}

void ConvWalk::weight_gradient(const SpikeTrain& input, const float* current_gradient,
                               float* weight_gradient) const {
  const int64_t frames = input.steps() * input.batch();
  const int64_t chunk = frames_per_gradient_walk(shape_);
  const int64_t chunks = (frames + chunk - 1) / chunk;
  const int64_t size = shape_.packed_size();
  const int64_t width = shape_.block_channels;
  const int64_t bordered_size = chunk * (output_.height + 2) * (output_.width + 2) * width;
  const Buffer<float> sums = sum_in_parts(chunks, size, [&](int64_t i, float* sum) {
    float* bordered = thread_scratch(ScratchSlot::gradient, bordered_size);
    const kernels::SpikeLists lists{
        thread_scratch<int32_t>(ScratchSlot::starts, kernels::channel_list_starts(shape_.map)),
        thread_scratch<int32_t>(ScratchSlot::entries, kernels::list_entries(shape_.map, chunk))};
    const int64_t first = i * chunk;
    const int64_t count = std::min(chunk, frames - first);
    for (int64_t p = 0; p < input.planes(); ++p) {
      const kernels::SpikePlane plane = plane_of(input, p, first, count);
      kernels::list_by_channel(shape_.map, plane, lists);
      for (int64_t block = 0; block < shape_.blocks(); ++block) {
        copy_bordered(output_, count, block * width, width,
                      current_gradient + first * output_.size(), bordered);
        kernels::kernels().spike_conv_weight_gradient(shape_, plane, lists, bordered,
                                                      sum + block * shape_.block_weights());
      }
    }
  });
  kernels::unpack_spike_gradient(shape_, sums.data(), weight_gradient);
}

}  // namespace bntt
