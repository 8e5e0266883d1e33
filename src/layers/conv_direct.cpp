#include "layers/conv_direct.h"

#include <algorithm>

#include "base/threads.h"
#include "layers/frame_place.h"
#include "layers/gradient_parts.h"
#include "layers/unpacked_frames.h"

namespace bntt {
namespace {

// A dense chunk's input and output should stay in the second-level cache together.
int64_t frames_per_dense_chunk(const StagePlan& plan) {
  constexpr int64_t kCacheFloats = 1 << 16;
  return std::clamp<int64_t>(kCacheFloats / (plan.input.size() + plan.output.size()), 1, 16);
}

/// A copy of a chunk, padded with zero frames at the end.
const float* copied_chunk(const float* gradient, int64_t first, int64_t frames, int64_t chunk,
                          int64_t size) {
  const int64_t count = std::min(chunk, frames - first) * size;
  float* copy = thread_scratch(ScratchSlot::result, chunk * size);
  std::copy_n(gradient + first * size, count, copy);
  std::fill(copy + count, copy + chunk * size, 0.0F);
  return copy;
}

/// The gradient of a whole chunk where it lies, or a padded copy at the end.
const float* whole_chunk(const float* gradient, int64_t first, int64_t frames, int64_t chunk,
                         int64_t size) {
  return first + chunk <= frames ? gradient + first * size
                                 : copied_chunk(gradient, first, frames, chunk, size);
}

}  // namespace

ConvDirect::ConvDirect(const StagePlan& plan)
    : input_(plan.input),
      output_(plan.output),
      map_(pool_of(plan)),
      dense_(plan.input, plan.output.channels, frames_per_dense_chunk(plan)) {}

void ConvDirect::forward(const Signal& input, const float* weights, float* current,
                         const FramesWritten& written) const {
  const Buffer<float> packed = dense_.pack_for_forward(weights);
  const int64_t frames = stored_frames(input);
  const int64_t chunk = dense_.frames();
  parallel_for((frames + chunk - 1) / chunk, [&](int64_t i) {
    const int64_t first = i * chunk;
    float* unpacked = thread_scratch(ScratchSlot::unpacked, chunk * input_.size());
    unpack_frames(input, map_, first, chunk, unpacked);
    const FramePlace place = FramePlace::of_chunk(current, first, chunk, output_.size());
    if (first + chunk <= frames) {
      dense_.forward(unpacked, packed.data(), place.data);
    } else {
      float* padded = thread_scratch(ScratchSlot::result, chunk * output_.size());
      dense_.forward(unpacked, packed.data(), padded);
      std::copy_n(padded, (frames - first) * output_.size(), place.data);
    }
    written(first, std::min(first + chunk, frames), place.data);
  });
}

void ConvDirect::weight_gradient(const Signal& input, const float* current_gradient,
                                 float* weight_gradient) const {
  const int64_t frames = stored_frames(input);
  const int64_t chunk = dense_.frames();
  const int64_t chunks = (frames + chunk - 1) / chunk;
  const int64_t size = dense_.packed_gradient_size();
  const Buffer<float> sums = sum_in_parts(chunks, size, [&](int64_t i, float* sum) {
    const int64_t first = i * chunk;
    float* unpacked = thread_scratch(ScratchSlot::unpacked, chunk * input_.size());
    float* of_chunk = thread_scratch(ScratchSlot::gradient, size);
    unpack_frames(input, map_, first, chunk, unpacked);
    dense_.weight_gradient(
        unpacked, whole_chunk(current_gradient, first, frames, chunk, output_.size()), of_chunk);
    for (int64_t k = 0; k < size; ++k) sum[k] += of_chunk[k];
  });
  dense_.unpack_gradient(sums.data(), weight_gradient);
}

void ConvDirect::input_gradient(const float* current_gradient, const float* weights, int64_t frames,
                                float* input_gradient) const {
  const Buffer<float> packed = dense_.pack_for_input_gradient(weights);
  const int64_t chunk = dense_.frames();
  parallel_for((frames + chunk - 1) / chunk, [&](int64_t i) {
    const int64_t first = i * chunk;
    const auto chunk_of = input_gradient == current_gradient ? copied_chunk : whole_chunk;
    const float* gradient = chunk_of(current_gradient, first, frames, chunk, output_.size());
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
