#pragma once

#include "kernels/neuron.h"

namespace bntt::kernels {

/// One step's view of a block of pixels.
struct StepRow {
  Currents current;    // [pixel, channel]
  const float* scale;  // [channel]
  const float* shift;  // [channel]

  StepRow(const NeuronShape& shape, const Affine& affine, const Currents& currents,
          const PixelBlock& block, int64_t step)
      : current(currents.from(currents.at_step(step) + block.image * shape.frame() +
                              block.begin * shape.channels)),
        scale(affine.scale + affine.row(step, block.image) * shape.channels),
        shift(affine.shift + affine.row(step, block.image) * shape.channels) {}

  /// base + y
  float add_to(float base, int64_t pixel, int64_t channels, int64_t c) const {
    return add_affine(base, current.at(pixel * channels + c), scale[c], shift[c]);
  }
};

/// The same for gradients, which need x̂ too.
struct UnitStepRow : StepRow {
  const float* mean;               // [channel]
  const float* inverse_deviation;  // [channel]

  UnitStepRow(const NeuronShape& shape, const Affine& affine, const Currents& currents,
              const PixelBlock& block, int64_t step)
      : StepRow(shape, affine, currents, block, step),
        mean(affine.mean + affine.row(step, block.image) * shape.channels),
        inverse_deviation(affine.inverse_deviation +
                          affine.row(step, block.image) * shape.channels) {}

  float unit(int64_t pixel, int64_t channels, int64_t c) const {
    return (current.at(pixel * channels + c) - mean[c]) * inverse_deviation[c];
  }
};

}  // namespace bntt::kernels
