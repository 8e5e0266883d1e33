#include "layers/dense_synapse.h"

#include <algorithm>

#include "base/threads.h"
#include "kernels/matmul.h"
#include "layers/unpacked_frames.h"

namespace bntt {
namespace {

// Every product has this many rows, padded with zeros at the end: a frame's bits then do not depend
// on its neighbours.
constexpr int64_t kFramesPerChunk = 32;
// Weight gradients sum over frames in order, this many at a time; the work is split over the
// inputs.
constexpr int64_t kFramesPerPass = 256;
constexpr int64_t kInputsPerBlock = 128;

}  // namespace

DenseSynapse::DenseSynapse(const StagePlan& plan)
    : map_(pool_of(plan)), inputs_(plan.input.size()), outputs_(plan.output.channels) {}

void DenseSynapse::forward(const Signal& input, const float* weights, float* current) const {
  const int64_t frames = stored_frames(input);
  parallel_for((frames + kFramesPerChunk - 1) / kFramesPerChunk, [&](int64_t i) {
    const int64_t first = i * kFramesPerChunk;
    float* dense = thread_scratch(ScratchSlot::unpacked, kFramesPerChunk * inputs_);
    float* result = thread_scratch(ScratchSlot::result, kFramesPerChunk * outputs_);
    unpack_frames(input, map_, first, kFramesPerChunk, dense);
    kernels::matmul({.rows = kFramesPerChunk,
                     .columns = outputs_,
                     .inner = inputs_,
                     .a_stride = inputs_,
                     .b_stride = outputs_,
                     .c_stride = outputs_},
                    dense, weights, result);
    const int64_t real = std::min(kFramesPerChunk, frames - first);
    std::copy_n(result, real * outputs_, current + first * outputs_);
  });
}

void DenseSynapse::weight_gradient(const Signal& input, const float* current_gradient,
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

void DenseSynapse::input_gradient(const float* current_gradient, const float* weights,
                                  int64_t frames, float* input_gradient) const {
  parallel_for((frames + kFramesPerChunk - 1) / kFramesPerChunk, [&](int64_t i) {
    const int64_t first = i * kFramesPerChunk;
    kernels::matmul({.rows = std::min(kFramesPerChunk, frames - first),
                     .columns = inputs_,
                     .inner = outputs_,
                     .transpose_b = kernels::Transpose::yes,
                     .a_stride = outputs_,
                     .b_stride = outputs_,
                     .c_stride = inputs_},
                    current_gradient + first * outputs_, weights, input_gradient + first * inputs_);
  });
}

}  // namespace bntt
