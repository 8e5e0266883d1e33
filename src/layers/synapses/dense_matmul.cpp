#include "layers/synapses/dense_matmul.h"

#include <algorithm>

#include "base/threads.h"
#include "kernels/matmul.h"
#include "layers/synapses/gradient_chunk.h"
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

void DenseMatmul::weight_gradient(const Signal& input, kernels::GradientView current_gradient,
                                  float* weight_gradient) const {
  const int64_t frames = stored_frames(input);
  Buffer<float> dense(std::min(frames, kFramesPerPass) * inputs_);
  const bool halves = current_gradient.halves != nullptr;
  Buffer<float> widened(halves ? std::min(frames, kFramesPerPass) * outputs_ : 0);
  for (int64_t first = 0; first < frames; first += kFramesPerPass) {
    const int64_t count = std::min(kFramesPerPass, frames - first);
    parallel_for(count, [&](int64_t f) {
      unpack_frames(input, map_, first + f, 1, dense.data() + f * inputs_);
    });
    const kernels::GradientView of_pass = current_gradient.from(first * outputs_);
    if (halves) of_pass.read(count * outputs_, widened.data());
    const float* gradient = halves ? widened.data() : of_pass.floats;
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
                      dense.data() + begin, gradient, weight_gradient + begin * outputs_);
    });
  }
}

void DenseMatmul::input_gradient(kernels::GradientView current_gradient, const float* weights,
                                 int64_t frames, kernels::GradientPlace input_gradient) const {
  parallel_for((frames + kFramesPerChunk - 1) / kFramesPerChunk, [&](int64_t i) {
    const int64_t first = i * kFramesPerChunk;
    const int64_t count = std::min(kFramesPerChunk, frames - first);
    const bool in_place = current_gradient == input_gradient.view();
    const auto floats = in_place ? copied_gradient : gradient_floats;
    const float* gradient =
        floats(current_gradient.from(first * outputs_), count * outputs_, ScratchSlot::result);
    const GradientChunk result(input_gradient.from(first * inputs_), count * inputs_,
                               ScratchSlot::unpacked);
    kernels::matmul({.rows = count,
                     .columns = inputs_,
                     .inner = outputs_,
                     .transpose_b = kernels::Transpose::yes,
                     .a_stride = outputs_,
                     .b_stride = outputs_,
                     .c_stride = inputs_},
                    gradient, weights, result.floats());
    result.finish();
  });
}

}  // namespace bntt
