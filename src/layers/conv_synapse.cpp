#include "layers/conv_synapse.h"

#include <algorithm>

#include "base/threads.h"
#include "kernels/kernel_set.h"
#include "layers/unpacked_frames.h"

namespace bntt {
namespace {

// A dense chunk's input and output should stay in the second-level cache together.
int64_t frames_per_dense_chunk(const StagePlan& plan) {
  constexpr int64_t kCacheFloats = 1 << 16;
  return std::clamp<int64_t>(kCacheFloats / (plan.input.size() + plan.output.size()), 1, 16);
}

// Enough pixels to use a block of weights again and again, few enough that one image of few steps
// feeds all threads.
int64_t frames_per_walk(const kernels::SpikeConvolution& convolution) {
  constexpr int64_t kPixels = 512;
  return std::max<int64_t>(1, kPixels / convolution.map.pooled().pixels());
}

// The bordered gradient of a block should stay in the second-level cache, and give each channel a
// few dozen spikes. By the shape alone, not by the kernel set's block: sums must not depend on the
// instruction set.
int64_t frames_per_gradient_walk(const kernels::SpikeConvolution& convolution) {
  constexpr int64_t kCacheFloats = 1 << 16;
  const MapShape map = convolution.map.pooled();
  const int64_t channels = std::min<int64_t>(64, convolution.output_channels);
  return std::max<int64_t>(1, kCacheFloats / ((map.height + 2) * (map.width + 2) * channels));
}

// Weight gradients are summed in a number of parts that depends on the shape alone; each part costs
// a copy of the weights.
int64_t gradient_parts(int64_t chunks, int64_t weights) {
  constexpr int64_t kPartFloats = 16 << 20;
  return std::min(chunks, std::clamp<int64_t>(kPartFloats / weights, 4, 32));
}

/// Sums parts [part, size] into the first, in order.
void add_parts(Buffer<float>& sums, int64_t parts, int64_t size) {
  for (int64_t part = 1; part < parts; ++part) {
    for (int64_t k = 0; k < size; ++k) sums[k] += sums[part * size + k];
  }
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

ConvSynapse::ConvSynapse(const StagePlan& plan)
    : input_(plan.input),
      output_(plan.output),
      spikes_{pool_of(plan), plan.output.channels,
              kernels::kernels().channels_per_block(plan.output.channels)},
      dense_(plan.input, plan.output.channels, frames_per_dense_chunk(plan)) {}

void ConvSynapse::forward(const Signal& input, const float* weights, float* current) const {
  if (const auto* spikes = std::get_if<SpikeTrain>(&input)) {
    forward_spikes(*spikes, weights, current);
  } else {
    forward_dense(input, weights, current);
  }
}

void ConvSynapse::weight_gradient(const Signal& input, const float* current_gradient,
                                  float* weight_gradient) const {
  if (const auto* spikes = std::get_if<SpikeTrain>(&input)) {
    weight_gradient_spikes(*spikes, current_gradient, weight_gradient);
  } else {
    weight_gradient_dense(input, current_gradient, weight_gradient);
  }
}

void ConvSynapse::forward_spikes(const SpikeTrain& input, const float* weights,
                                 float* current) const {
  Buffer<float> packed(spikes_.packed_size());
  kernels::pack_spike_weights(spikes_, weights, packed.data());
  const int64_t frames = input.steps() * input.batch();
  const int64_t chunk = frames_per_walk(spikes_);
  parallel_for((frames + chunk - 1) / chunk, [&](int64_t i) {
    const int64_t first = i * chunk;
    const int64_t count = std::min(chunk, frames - first);
    const kernels::SpikeLists lists{
        thread_scratch<int32_t>(ScratchSlot::starts,
                                kernels::pixel_list_starts(spikes_.map, chunk)),
        thread_scratch<int32_t>(ScratchSlot::entries, kernels::list_entries(spikes_.map, chunk))};
    for (int64_t p = 0; p < input.planes(); ++p) {
      const kernels::SpikePlane plane = plane_of(input, p, first, count);
      kernels::list_by_pixel(spikes_.map, plane, lists);
      kernels::kernels().spike_conv_forward(spikes_, plane, lists, packed.data(), p > 0,
                                            current + first * output_.size());
    }
  });
}

void ConvSynapse::weight_gradient_spikes(const SpikeTrain& input, const float* current_gradient,
                                         float* weight_gradient) const {
  const int64_t frames = input.steps() * input.batch();
  const int64_t chunk = frames_per_gradient_walk(spikes_);
  const int64_t chunks = (frames + chunk - 1) / chunk;
  const int64_t size = spikes_.packed_size();
  const int64_t parts = gradient_parts(chunks, 9 * input_.channels * output_.channels);
  const int64_t width = spikes_.block_channels;
  const int64_t bordered_size = chunk * (output_.height + 2) * (output_.width + 2) * width;
  Buffer<float> sums = Buffer<float>::zeros(parts * size);
  parallel_for(parts, [&](int64_t part) {
    float* bordered = thread_scratch(ScratchSlot::gradient, bordered_size);
    const kernels::SpikeLists lists{
        thread_scratch<int32_t>(ScratchSlot::starts, kernels::channel_list_starts(spikes_.map)),
        thread_scratch<int32_t>(ScratchSlot::entries, kernels::list_entries(spikes_.map, chunk))};
    for (int64_t i = chunks * part / parts; i < chunks * (part + 1) / parts; ++i) {
      const int64_t first = i * chunk;
      const int64_t count = std::min(chunk, frames - first);
      for (int64_t p = 0; p < input.planes(); ++p) {
        const kernels::SpikePlane plane = plane_of(input, p, first, count);
        kernels::list_by_channel(spikes_.map, plane, lists);
        for (int64_t block = 0; block < spikes_.blocks(); ++block) {
          copy_bordered(output_, count, block * width, width,
                        current_gradient + first * output_.size(), bordered);
          kernels::kernels().spike_conv_weight_gradient(
              spikes_, plane, lists, bordered,
              sums.data() + part * size + block * spikes_.block_weights());
        }
      }
    }
  });
  add_parts(sums, parts, size);
  kernels::unpack_spike_gradient(spikes_, sums.data(), weight_gradient);
}

void ConvSynapse::forward_dense(const Signal& input, const float* weights, float* current) const {
  const Buffer<float> packed = dense_.pack_for_forward(weights);
  const int64_t frames = stored_frames(input);
  const int64_t chunk = dense_.frames();
  parallel_for((frames + chunk - 1) / chunk, [&](int64_t i) {
    const int64_t first = i * chunk;
    float* unpacked = thread_scratch(ScratchSlot::unpacked, chunk * input_.size());
    unpack_frames(input, spikes_.map, first, chunk, unpacked);
    if (first + chunk <= frames) {
      dense_.forward(unpacked, packed.data(), current + first * output_.size());
    } else {
      float* padded = thread_scratch(ScratchSlot::result, chunk * output_.size());
      dense_.forward(unpacked, packed.data(), padded);
      std::copy_n(padded, (frames - first) * output_.size(), current + first * output_.size());
    }
  });
}

namespace {

/// The gradient of a whole chunk: in place, or padded with zero frames at the end.
const float* whole_chunk(const float* gradient, int64_t first, int64_t frames, int64_t chunk,
                         int64_t size) {
  gradient += first * size;
  if (first + chunk <= frames) return gradient;
  float* padded = thread_scratch(ScratchSlot::result, chunk * size);
  std::copy_n(gradient, (frames - first) * size, padded);
  std::fill(padded + (frames - first) * size, padded + chunk * size, 0.0F);
  return padded;
}

}  // namespace

void ConvSynapse::weight_gradient_dense(const Signal& input, const float* current_gradient,
                                        float* weight_gradient) const {
  const int64_t frames = stored_frames(input);
  const int64_t chunk = dense_.frames();
  const int64_t chunks = (frames + chunk - 1) / chunk;
  const int64_t size = dense_.packed_gradient_size();
  const int64_t parts = gradient_parts(chunks, size);
  Buffer<float> sums = Buffer<float>::zeros(parts * size);
  parallel_for(parts, [&](int64_t part) {
    float* sum = sums.data() + part * size;
    float* unpacked = thread_scratch(ScratchSlot::unpacked, chunk * input_.size());
    float* of_chunk = thread_scratch(ScratchSlot::gradient, size);
    for (int64_t i = chunks * part / parts; i < chunks * (part + 1) / parts; ++i) {
      const int64_t first = i * chunk;
      unpack_frames(input, spikes_.map, first, chunk, unpacked);
      dense_.weight_gradient(
          unpacked, whole_chunk(current_gradient, first, frames, chunk, output_.size()), of_chunk);
      for (int64_t k = 0; k < size; ++k) sum[k] += of_chunk[k];
    }
  });
  add_parts(sums, parts, size);
  dense_.unpack_gradient(sums.data(), weight_gradient);
}

void ConvSynapse::input_gradient(const float* current_gradient, const float* weights,
                                 int64_t frames, float* input_gradient) const {
  const Buffer<float> packed = dense_.pack_for_input_gradient(weights);
  const int64_t chunk = dense_.frames();
  parallel_for((frames + chunk - 1) / chunk, [&](int64_t i) {
    const int64_t first = i * chunk;
    const float* gradient = whole_chunk(current_gradient, first, frames, chunk, output_.size());
    float* result = input_gradient + first * input_.size();
    if (first + chunk <= frames) {
      dense_.input_gradient(gradient, packed.data(), result);
      return;
    }
    float* padded = thread_scratch(ScratchSlot::unpacked, chunk * input_.size());
    dense_.input_gradient(gradient, packed.data(), padded);
    std::copy_n(padded, (frames - first) * input_.size(), result);
  });
}

}  // namespace bntt
