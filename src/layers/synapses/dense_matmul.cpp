#include "layers/synapses/dense_matmul.h"

#include <algorithm>

#include "base/threads.h"
#include "kernels/matmul.h"
#include "layers/synapses/synapse.h"
#include "layers/synapses/unpacked_frames.h"

namespace bntt {
namespace {

// Every product has this many rows, padded with zeros at the end, so that a frame's bits do not
// depend on its neighbours.
constexpr int64_t kFramesPerChunk = 32;
// Weight gradients sum over frames in order, this many at a time; the work is split over the
// inputs.
constexpr int64_t kFramesPerPass = 256;
constexpr int64_t kInputsPerBlock = 128;

}  // namespace

DenseMatmul::DenseMatmul(const BranchPlan& plan)
    : map_(pool_of(plan)), inputs_(plan.input.size()), outputs_(plan.output.channels) {}

int64_t DenseMatmul::frames_together() const { return kFramesPerChunk; }

void DenseMatmul::forward(const Signal& input, std::span<const int64_t> frames,
                          const WayWeights& weights, const FramePlace& place) const {
  float* dense = thread_scratch(ScratchSlot::unpacked, kFramesPerChunk * inputs_);
  float* result = thread_scratch(ScratchSlot::result, kFramesPerChunk * outputs_);
  for (int64_t begin = 0; begin < std::ssize(frames); begin += kFramesPerChunk) {
    const int64_t count = std::min(kFramesPerChunk, std::ssize(frames) - begin);
    for (int64_t i = 0; i < count; ++i) {
      unpack_frames(input, map_, frames[begin + i], 1, dense + i * inputs_);
    }
    std::fill(dense + count * inputs_, dense + kFramesPerChunk * inputs_, 0.0F);
    kernels::matmul({.rows = kFramesPerChunk,
                     .columns = outputs_,
                     .inner = inputs_,
                     .a_stride = inputs_,
                     .b_stride = outputs_,
                     .c_stride = outputs_},
                    dense, weights.plain, result);
    for (int64_t i = 0; i < count; ++i) {
      std::copy_n(result + i * outputs_, outputs_, place.frame(frames[begin + i]));
    }
  }
}

void DenseMatmul::weight_gradient(const Signal& input, const float* current_gradient,
                                  float* weight_gradient) const {
  const int64_t frames = stored_frames(input);
  Buffer<float> dense(std::min(frames, kFramesPerPass) * inputs_);
  for (int64_t first = 0; first < frames; first += kFramesPerPass) {
    const int64_t count = std::min(kFramesPerPass, frames - first);
    parallel_for(count, [&](int64_t f) {
      unpack_frames(input, map_, first + f, 1, dense.data() + f * inputs_);
    });
    parallel_for((inputs_ + kInputsPerBlock - 1) / kInputsPerBlock, [&](int64_t block) {
      const int64_t begin = block * kInputsPerBlock;
      kernels::matmul({.rows = std::min(kInputsPerBlock, inputs_ - begin),
                       .columns = outputs_,
                       .inner = count,
                       .transpose_a = kernels::Transpose::yes,
                       .a_stride = inputs_,
                       .b_stride = outputs_,
                       .c_stride = outputs_,
                       .accumulate = first > 0},
                      dense.data() + begin, current_gradient + first * outputs_,
                      weight_gradient + begin * outputs_);
    });
  }
}

void DenseMatmul::input_gradient(const float* current_gradient, const float* weights,
                                 int64_t frames, float* input_gradient) const {
  parallel_for((frames + kFramesPerChunk - 1) / kFramesPerChunk, [&](int64_t i) {
    const int64_t first = i * kFramesPerChunk;
    const int64_t count = std::min(kFramesPerChunk, frames - first);
    const float* gradient = current_gradient + first * outputs_;
    if (input_gradient == current_gradient) {
      float* copy = thread_scratch(ScratchSlot::result, kFramesPerChunk * outputs_);
      std::copy_n(gradient, count * outputs_, copy);
      gradient = copy;
    }
    kernels::matmul({.rows = count,
                     .columns = inputs_,
                     .inner = outputs_,
                     .transpose_b = kernels::Transpose::yes,
                     .a_stride = outputs_,
                     .b_stride = outputs_,
                     .c_stride = inputs_},
                    gradient, weights, input_gradient + first * inputs_);
  });
}

}  // namespace bntt
