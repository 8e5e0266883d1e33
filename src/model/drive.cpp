#include "model/drive.h"

#include "kernels/kernel_set.h"
#include "kernels/step_row.h"
#include "layers/neurons/blocks.h"

namespace bntt {

Drive::Drive(const kernels::NeuronShape& shape, const std::vector<NormalisedCurrent>& branches)
    : input_{shape, branches.front().affine, branches.front().currents} {
  if (branches.size() == 1) return;
  sum_ = Buffer<float>(shape.steps * shape.batch * shape.frame());
  ones_ = Buffer<float>(shape.steps * shape.channels);
  ones_.fill(1.0F);
  zeros_ = Buffer<float>::zeros(shape.steps * shape.channels);
  for_each_block(shape, [&](const kernels::PixelBlock& block) {
    for (int64_t step = 0; step < shape.steps; ++step) {
      float* out = sum_.data() + ((step * shape.batch + block.image) * shape.pixels + block.begin) *
                                     shape.channels;
      for (std::size_t b = 0; b < branches.size(); ++b) {
        const kernels::StepRow row(shape, branches[b].affine, branches[b].currents, block, step);
        kernels::kernels().add_normalised({.pixels = block.end - block.begin,
                                           .channels = shape.channels,
                                           .scale = row.scale,
                                           .shift = row.shift,
                                           .currents = row.current,
                                           .current_stride = shape.channels,
                                           .accumulate = b > 0,
                                           .out = out,
                                           .out_stride = shape.channels});
      }
    }
  });
  input_.affine = {.scale = ones_.data(),
                   .shift = zeros_.data(),
                   .mean = zeros_.data(),
                   .inverse_deviation = ones_.data()};
  input_.currents = {.data = sum_.data(), .step_stride = shape.batch * shape.frame()};
}

}  // namespace bntt
