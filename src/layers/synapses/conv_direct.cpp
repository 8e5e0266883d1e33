#include "layers/synapses/conv_direct.h"

#include <algorithm>

#include "base/threads.h"
#include "layers/synapses/conv_winograd.h"
#include "layers/synapses/gradient_chunk.h"
#include "layers/synapses/gradient_parts.h"
#include "layers/synapses/synapse.h"
#include "layers/synapses/unpacked_frames.h"

namespace bntt {
namespace {

// A dense chunk's input and output should fit into the L2 cache together.
int64_t frames_per_dense_chunk(const BranchPlan& plan) {
  constexpr int64_t kCacheFloats = 1 << 16;
  return std::clamp<int64_t>(kCacheFloats / (plan.input.size() + plan.output.size()), 1, 16);
}

/// A copy of a chunk, padded with zero frames at the end.
const float* copied_chunk(kernels::GradientView gradient, int64_t first, int64_t frames,
                          int64_t chunk, int64_t size) {
  const int64_t count = std::min(chunk, frames - first) * size;
  float* copy = thread_scratch(ScratchSlot::result, chunk * size);
  gradient.from(first * size).read(count, copy);
  std::fill(copy + count, copy + chunk * size, 0.0F);
  return copy;
}

/// The gradient of a whole chunk in place, or a padded copy at the end.
const float* whole_chunk(kernels::GradientView gradient, int64_t first, int64_t frames,
                         int64_t chunk, int64_t size) {
  return gradient.halves == nullptr && first + chunk <= frames
             ? gradient.floats + first * size
             : copied_chunk(gradient, first, frames, chunk, size);
}

}  // namespace

ConvDirect::ConvDirect(const BranchPlan& plan)
    : input_(plan.input),
      output_(plan.output),
      geometry_(plan.geometry),
      map_(pool_of(plan)),
      wide_(plan.input.channels >= 8 && plan.output.channels >= 8),
      slower_than_winograd_(ConvWinograd::suits(plan)),
      chunk_(frames_per_dense_chunk(plan)) {}

const kernels::DenseConvolution& ConvDirect::dense() const {
  std::call_once(made_, [&] {
    dense_ =
        std::make_unique<kernels::DenseConvolution>(input_, output_.channels, chunk_, geometry_);
  });
  return *dense_;
}

bool ConvDirect::does(SynapseOperation operation, InputKind input) const {
  return operation == SynapseOperation::input_gradient || !input.spikes() || wide_;
}

double ConvDirect::cost(SynapseOperation /*operation*/, double /*density*/,
                        const BreakEven& /*break_even*/) const {
  return slower_than_winograd_ ? 2.0 : 1.0;
}

Buffer<float> ConvDirect::pack(const float* weights,
                               const std::vector<float>& /*plane_weights*/) const {
  return dense().pack_for_forward(weights);
}

void ConvDirect::forward(const Signal& input, std::span<const int64_t> frames,
                         const WayWeights& weights, const FramePlace& place) const {
  for (int64_t begin = 0; begin < std::ssize(frames); begin += chunk_) {
    const int64_t count = std::min(chunk_, std::ssize(frames) - begin);
    float* unpacked = thread_scratch(ScratchSlot::unpacked, chunk_ * input_.size());
    for (int64_t i = 0; i < count; ++i) {
      unpack_frames(input, map_, frames[begin + i], 1, unpacked + i * input_.size());
    }
    std::fill(unpacked + count * input_.size(), unpacked + chunk_ * input_.size(), 0.0F);
    const bool whole = count == chunk_ && frames[begin + count - 1] == frames[begin] + count - 1;
    float* currents = whole ? place.frame(frames[begin])
                            : thread_scratch(ScratchSlot::result, chunk_ * output_.size());
    dense().forward(unpacked, weights.packed, currents);
    for (int64_t i = 0; i < count && !whole; ++i) {
      std::copy_n(currents + i * output_.size(), output_.size(), place.frame(frames[begin + i]));
    }
  }
}

void ConvDirect::weight_gradient(const Signal& input, kernels::GradientView current_gradient,
                                 float* weight_gradient) const {
  const int64_t frames = stored_frames(input);
  const int64_t chunk = chunk_;
  const int64_t chunks = (frames + chunk - 1) / chunk;
  const int64_t size = dense().packed_gradient_size();
  const Buffer<float> sums = sum_in_parts(chunks, size, [&](int64_t i, float* sum) {
    const int64_t first = i * chunk;
    float* unpacked = thread_scratch(ScratchSlot::unpacked, chunk * input_.size());
    float* of_chunk = thread_scratch(ScratchSlot::gradient, size);
    unpack_frames(input, map_, first, chunk, unpacked);
    dense().weight_gradient(
        unpacked, whole_chunk(current_gradient, first, frames, chunk, output_.size()), of_chunk);
    for (int64_t k = 0; k < size; ++k) sum[k] += of_chunk[k];
  });
  dense().unpack_gradient(sums.data(), weight_gradient);
}

void ConvDirect::input_gradient(kernels::GradientView current_gradient, const float* weights,
                                int64_t frames, kernels::GradientPlace input_gradient) const {
  const Buffer<float> packed = dense().pack_for_input_gradient(weights);
  const int64_t chunk = chunk_;
  parallel_for((frames + chunk - 1) / chunk, [&](int64_t i) {
    const int64_t first = i * chunk;
    const bool in_place = current_gradient == input_gradient.view();
    const auto chunk_of = in_place ? copied_chunk : whole_chunk;
    const float* gradient = chunk_of(current_gradient, first, frames, chunk, output_.size());
    const kernels::GradientPlace result = input_gradient.from(first * input_.size());
    if (result.halves == nullptr && first + chunk <= frames) {
      dense().input_gradient(gradient, packed.data(), result.floats);
      return;
    }
    float* padded = thread_scratch(ScratchSlot::unpacked, chunk * input_.size());
    dense().input_gradient(gradient, packed.data(), padded);
    result.write(padded, std::min(chunk, frames - first) * input_.size());
  });
}

}  // namespace bntt
