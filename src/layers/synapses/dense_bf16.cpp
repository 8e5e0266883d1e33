#include "layers/synapses/dense_bf16.h"

#include <algorithm>

#include "base/threads.h"
#include "kernels/kernel_set.h"
#include "layers/synapses/gradient_chunk.h"

namespace bntt {
namespace {

/// Adjacent values of a row form pairs; if their number is odd, the last is paired with zero.
void pair_row(const float* values, int64_t count, int64_t stride, float* pairs) {
  const int64_t whole = count / 2;
  for (int64_t k = 0; k < whole; ++k) {
    pairs[k * stride] = kernels::rounded_pair(values[2 * k], values[2 * k + 1]);
  }
  if (count % 2 != 0) pairs[whole * stride] = kernels::rounded_pair(values[count - 1], 0.0F);
}

}  // namespace

void DenseBf16::forward(const Signal& /*input*/, std::span<const int64_t> /*frames*/,
                        const WayWeights& /*weights*/, const FramePlace& /*place*/) const {
  BNTT_CHECK(!"this way has no forward");
}

// Panels of inputs run in parallel: the weights of a panel stay in cache while all frames are
// processed. All pairs of the gradient are packed first, so the result may overwrite the gradient.
void DenseBf16::input_gradient(kernels::GradientView current_gradient, const float* weights,
                               int64_t frames, kernels::GradientPlace input_gradient) const {
  constexpr int64_t kFramesTogether = 48;
  const int64_t pairs = (outputs_ + 1) / 2;
  const int64_t panel = kernels::kernels().bf16.panel;
  Buffer<float> gradient(frames * pairs);  // [frame, pair of out]
  parallel_for(frames, [&](int64_t f) {
    const float* row =
        gradient_floats(current_gradient.from(f * outputs_), outputs_, ScratchSlot::gradient);
    pair_row(row, outputs_, 1, gradient.data() + f * pairs);
  });
  parallel_for((inputs_ + panel - 1) / panel, [&](int64_t p) {
    const int64_t first = p * panel;
    const int64_t count = std::min(panel, inputs_ - first);
    float* packed = thread_scratch(ScratchSlot::unpacked, pairs * panel);  // [pair of out, in]
    if (count < panel) std::fill_n(packed, pairs * panel, 0.0F);
    for (int64_t in = 0; in < count; ++in) {
      pair_row(weights + (first + in) * outputs_, outputs_, panel, packed + in);
    }
    float* part = thread_scratch(ScratchSlot::result, kFramesTogether * panel);
    for (int64_t begin = 0; begin < frames; begin += kFramesTogether) {
      const int64_t rows = std::min(kFramesTogether, frames - begin);
      kernels::kernels().bf16.multiply_pairs({.rows = rows,
                                              .pairs = pairs,
                                              .a = gradient.data() + begin * pairs,
                                              .a_row_stride = pairs,
                                              .a_pair_stride = 1,
                                              .b = packed,
                                              .b_stride = panel,
                                              .c = part,
                                              .c_stride = panel});
      for (int64_t row = 0; row < rows; ++row) {
        input_gradient.from((begin + row) * inputs_ + first).write(part + row * panel, count);
      }
    }
  });
}

}  // namespace bntt
