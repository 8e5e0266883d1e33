#include "layers/conv_synapse.h"

#include <algorithm>

#include "base/threads.h"
#include "layers/unpacked_frames.h"

namespace bntt {
namespace {

// A chunk's input and output should stay in the second-level cache together.
int64_t frames_per_chunk(const StagePlan& plan) {
  constexpr int64_t kCacheFloats = 64 * 1024;
  return std::clamp<int64_t>(kCacheFloats / (plan.input.size() + plan.output.size()), 1, 16);
}

// Weight gradients are summed in a number of parts that depends on the shape alone; each part costs a copy of the weights.
int64_t gradient_parts(int64_t chunks, int64_t weights) {
  constexpr int64_t kPartFloats = 16 << 20;
  return std::clamp<int64_t>(kPartFloats / weights, 4, std::max<int64_t>(4, std::min<int64_t>(chunks, 32)));
}

}  // namespace

ConvSynapse::ConvSynapse(const StagePlan& plan)
    : map_(pool_of(plan)),
      input_(plan.input),
      output_(plan.output),
      convolution_(plan.input, plan.output.channels, frames_per_chunk(plan)) {}

void ConvSynapse::forward(const Signal& input, const float* weights, float* current) const {
  const Buffer<float> packed = convolution_.pack_for_forward(weights);
  const int64_t frames = stored_frames(input);
  const int64_t chunk = convolution_.frames();
  parallel_for((frames + chunk - 1) / chunk, [&](int64_t i) {
    const int64_t first = i * chunk;
    float* dense = thread_scratch(ScratchSlot::unpacked, chunk * input_.size());
    unpack_frames(input, map_, first, chunk, dense);
    if (first + chunk <= frames) {
      convolution_.forward(dense, packed.data(), current + first * output_.size());
    } else {
      float* padded = thread_scratch(ScratchSlot::result, chunk * output_.size());
      convolution_.forward(dense, packed.data(), padded);
      std::copy_n(padded, (frames - first) * output_.size(), current + first * output_.size());
    }
  });
}

void ConvSynapse::weight_gradient(const Signal& input, const float* current_gradient,
                                  float* weight_gradient) const {
  const int64_t frames = stored_frames(input);
  const int64_t chunk = convolution_.frames();
  const int64_t chunks = (frames + chunk - 1) / chunk;
  const int64_t size = convolution_.packed_gradient_size();
  const int64_t parts = std::min(chunks, gradient_parts(chunks, size));
  Buffer<float> sums = Buffer<float>::zeros(parts * size);
  parallel_for(parts, [&](int64_t part) {
    float* sum = sums.data() + part * size;
    float* dense = thread_scratch(ScratchSlot::unpacked, chunk * input_.size());
    float* of_chunk = thread_scratch(ScratchSlot::gradient, size);
    for (int64_t i = chunks * part / parts; i < chunks * (part + 1) / parts; ++i) {
      const int64_t first = i * chunk;
      const float* gradient = current_gradient + first * output_.size();
      if (first + chunk > frames) {
        float* padded = thread_scratch(ScratchSlot::result, chunk * output_.size());
        const int64_t real = (frames - first) * output_.size();
        std::copy_n(gradient, real, padded);
        std::fill(padded + real, padded + chunk * output_.size(), 0.0F);
        gradient = padded;
      }
      unpack_frames(input, map_, first, chunk, dense);
      convolution_.weight_gradient(dense, gradient, of_chunk);
      for (int64_t k = 0; k < size; ++k) sum[k] += of_chunk[k];
    }
  });
  for (int64_t part = 1; part < parts; ++part) {
    for (int64_t k = 0; k < size; ++k) sums[k] += sums[part * size + k];
  }
  convolution_.unpack_gradient(sums.data(), weight_gradient);
}

void ConvSynapse::input_gradient(const float* current_gradient, const float* weights,
                                 int64_t frames, float* input_gradient) const {
  const Buffer<float> packed = convolution_.pack_for_input_gradient(weights);
  const int64_t chunk = convolution_.frames();
  parallel_for((frames + chunk - 1) / chunk, [&](int64_t i) {
    const int64_t first = i * chunk;
    const float* gradient = current_gradient + first * output_.size();
    float* result = input_gradient + first * input_.size();
    if (first + chunk <= frames) {
      convolution_.input_gradient(gradient, packed.data(), result);
      return;
    }
    float* padded = thread_scratch(ScratchSlot::result, chunk * output_.size());
    float* padded_result = thread_scratch(ScratchSlot::unpacked, chunk * input_.size());
    const int64_t real = (frames - first) * output_.size();
    std::copy_n(gradient, real, padded);
    std::fill(padded + real, padded + chunk * output_.size(), 0.0F);
    convolution_.input_gradient(padded, packed.data(), padded_result);
    std::copy_n(padded_result, (frames - first) * input_.size(), result);
  });
}

}  // namespace bntt
