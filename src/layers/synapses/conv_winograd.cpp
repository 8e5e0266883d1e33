#include "layers/synapses/conv_winograd.h"

#include <algorithm>
#include <vector>

#include "base/threads.h"
#include "kernels/kernel_set.h"
#include "layers/synapses/gradient_chunk.h"
#include "layers/synapses/gradient_parts.h"
#include "layers/synapses/synapse.h"
#include "layers/synapses/unpacked_frames.h"

namespace bntt {
namespace {

using kernels::WinogradConvolution;

// With few channels, the transformed tiles should stay in the L2 cache. With many, the transformed
// weights do not fit into it, and each pass over them should serve more tiles.
int64_t tiles_per_block(const WinogradConvolution& convolution) {
  return convolution.map.channels <= 128 ? 24 : 48;
}

int64_t frames_per_chunk_of(const WinogradConvolution& convolution) {
  constexpr int64_t kTiles = 96;
  return std::max<int64_t>(1, kTiles / convolution.tiles_per_frame());
}

template <typename T>
std::vector<T*> frames_of(T* data, int64_t size, int64_t first, int64_t end) {
  std::vector<T*> frames;
  for (int64_t f = first; f < end; ++f) frames.push_back(data + f * size);
  return frames;
}

}  // namespace

ConvWinograd::ConvWinograd(const BranchPlan& plan)
    : ConvWinograd(plan, {.forward = kernels::kernels().winograd_forward,
                          .weight_gradient = kernels::kernels().winograd_weight_gradient,
                          .pack = kernels::pack_winograd_weights,
                          .pack_reversed = kernels::pack_winograd_weights_reversed,
                          .unpack_gradient = kernels::unpack_winograd_gradient,
                          .panel = kernels::kernels().winograd_panel}) {}

ConvWinogradBf16::ConvWinogradBf16(const BranchPlan& plan)
    : ConvWinograd(plan, {.forward = kernels::kernels().bf16.winograd_forward,
                          .weight_gradient = kernels::kernels().bf16.winograd_weight_gradient,
                          .pack = kernels::pack_winograd_weights_bf16,
                          .pack_reversed = kernels::pack_winograd_weights_reversed_bf16,
                          .unpack_gradient = kernels::unpack_winograd_gradient_bf16,
                          .panel = kernels::kernels().bf16.panel}) {}

ConvWinograd::ConvWinograd(const BranchPlan& plan, const Kernels& kernels)
    : kernels_(kernels),
      map_(pool_of(plan)),
      there_{plan.input, plan.output.channels, kernels.panel},
      back_{plan.output, plan.input.channels, kernels.panel} {}

/// Convolves whole frames, one block of tiles after the other.
void ConvWinograd::convolve(const WinogradConvolution& convolution, const float* packed_weights,
                            const std::vector<const float*>& inputs,
                            const std::vector<float*>& outputs) const {
  const int64_t block = tiles_per_block(convolution);
  const int64_t tiles = convolution.tiles_per_frame() * std::ssize(inputs);
  float* scratch = thread_scratch(ScratchSlot::workspace, convolution.forward_scratch(block));
  for (int64_t first = 0; first < tiles; first += block) {
    kernels_.forward(convolution, packed_weights, inputs.data(),
                     {first, std::min(block, tiles - first)}, scratch, outputs.data());
  }
}

int64_t ConvWinograd::frames_together() const { return frames_per_chunk_of(there_); }

Buffer<float> ConvWinograd::pack(const float* weights,
                                 const std::vector<float>& /*plane_weights*/) const {
  Buffer<float> packed(there_.packed_size());
  parallel_for(there_.panels(),
               [&](int64_t panel) { kernels_.pack(there_, weights, panel, packed.data()); });
  return packed;
}

void ConvWinograd::forward(const Signal& input, std::span<const int64_t> frames,
                           const WayWeights& weights, const FramePlace& place) const {
  const int64_t size = map_.pooled().size();
  float* unpacked = thread_scratch(ScratchSlot::unpacked, std::ssize(frames) * size);
  std::vector<const float*> inputs;
  std::vector<float*> outputs;
  for (const int64_t frame : frames) {
    float* dense = unpacked + std::ssize(inputs) * size;
    unpack_frames(input, map_, frame, 1, dense);
    inputs.push_back(dense);
    outputs.push_back(place.frame(frame));
  }
  convolve(there_, weights.packed, inputs, outputs);
}

void ConvWinograd::weight_gradient(const Signal& input, kernels::GradientView current_gradient,
                                   float* weight_gradient) const {
  const int64_t frames = stored_frames(input);
  const int64_t chunk = frames_together();
  const int64_t chunks = (frames + chunk - 1) / chunk;
  const int64_t size = there_.gradient_size();
  const int64_t block = 2 * tiles_per_block(there_);
  const Buffer<float> sums = sum_in_parts(chunks, size, [&](int64_t i, float* sum) {
    float* unpacked = thread_scratch(ScratchSlot::unpacked, chunk * map_.pooled().size());
    float* scratch = thread_scratch(ScratchSlot::workspace, there_.gradient_scratch(block));
    const int64_t first = i * chunk;
    const int64_t end = std::min(first + chunk, frames);
    unpack_frames(input, map_, first, end - first, unpacked);
    const auto inputs = frames_of<const float>(unpacked, map_.pooled().size(), 0, end - first);
    const int64_t gradient_size = back_.map.size();
    const float* gradient = gradient_floats(current_gradient.from(first * gradient_size),
                                            (end - first) * gradient_size, ScratchSlot::gradient);
    const auto gradients = frames_of(gradient, gradient_size, 0, end - first);
    const int64_t tiles = there_.tiles_per_frame() * (end - first);
    for (int64_t t = 0; t < tiles; t += block) {
      kernels_.weight_gradient(there_, inputs.data(), gradients.data(),
                               {t, std::min(block, tiles - t)}, scratch, sum);
    }
  });
  parallel_for(there_.map.channels, [&](int64_t in) {
    kernels_.unpack_gradient(there_, sums.data(), in, weight_gradient);
  });
}

void ConvWinograd::input_gradient(kernels::GradientView current_gradient, const float* weights,
                                  int64_t frames, kernels::GradientPlace input_gradient) const {
  Buffer<float> packed(back_.packed_size());
  parallel_for(back_.panels(), [&](int64_t panel) {
    kernels_.pack_reversed(back_, weights, panel, packed.data());
  });
  const int64_t chunk = frames_per_chunk_of(back_);
  parallel_for((frames + chunk - 1) / chunk, [&](int64_t i) {
    const int64_t first = i * chunk;
    const int64_t end = std::min(first + chunk, frames);
    const int64_t size = back_.map.size();
    const bool in_place = current_gradient == input_gradient.view();  // and tiles overlap
    const auto floats = in_place ? copied_gradient : gradient_floats;
    const float* gradient =
        floats(current_gradient.from(first * size), (end - first) * size, ScratchSlot::unpacked);
    const int64_t result_size = there_.map.size();
    const GradientChunk result(input_gradient.from(first * result_size),
                               (end - first) * result_size, ScratchSlot::result);
    convolve(back_, packed.data(), frames_of(gradient, size, 0, end - first),
             frames_of(result.floats(), result_size, 0, end - first));
    result.finish();
  });
}

}  // namespace bntt
