#include "model/drive.h"

#include <algorithm>

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
      bool begun = false;
      for (const NormalisedCurrent& branch : branches) {
        if (branch.working != nullptr && !branch.working->works(step)) continue;
        const kernels::StepRow row(shape, branch.affine, branch.currents, block, step);
        kernels::kernels().add_normalised({.pixels = block.end - block.begin,
                                           .channels = shape.channels,
                                           .scale = row.scale,
                                           .shift = row.shift,
                                           .currents = row.current,
                                           .current_stride = shape.channels,
                                           .accumulate = begun,
                                           .out = out,
                                           .out_stride = shape.channels});
        begun = true;
      }
      if (!begun) std::fill_n(out, (block.end - block.begin) * shape.channels, 0.0F);
    }
  });
  input_.affine = {.scale = ones_.data(),
                   .shift = zeros_.data(),
                   .mean = zeros_.data(),
                   .inverse_deviation = ones_.data()};
  input_.currents = {.data = sum_.data(), .step_stride = shape.batch * shape.frame()};
}

}  // namespace bntt
