#include "layers/neurons/accumulator.h"

#include <cmath>

namespace bntt {
namespace {

float unit_current(const kernels::Affine& affine, const kernels::Currents& currents,
                   int64_t classes, int64_t step, int64_t image, int64_t k) {
  const int64_t row = affine.row(step, image) * classes + k;
  const float x = currents.at(currents.at_step(step) + image * classes + k);
  return (x - affine.mean[row]) * affine.inverse_deviation[row];
}

}  // namespace

Signal Accumulator::forward(const NeuronInput& input, std::span<const Parameter> /*parameters*/,
                            float* carry) const {
  const auto& [shape, affine, currents] = input;
  const int64_t classes = shape.channels;
  DenseTrain outputs{.steps = shape.steps,
                     .batch = shape.batch,
                     .shape = map_,
                     .constant = false,
                     .values = Buffer<float>(shape.steps * shape.batch * classes)};
  for (int64_t step = 0; step < shape.steps; ++step) {
    for (int64_t image = 0; image < shape.batch; ++image) {
      const int64_t row = affine.row(step, image) * classes;
      const kernels::Currents current = currents.from(currents.at_step(step) + image * classes);
      for (int64_t k = 0; k < classes; ++k) {
        const float x = current.at(k);
        const float scale = affine.scale[row + k];
        const float shift = affine.shift[row + k];
        float& voltage = carry[image * classes + k];
        voltage = std::fma(x, scale, leak_ * voltage + shift);
        outputs.values[(step * shape.batch + image) * classes + k] = std::fma(x, scale, shift);
      }
    }
  }
  return outputs;
}

void Accumulator::backward(const NeuronInput& input, const kernels::SpikeGradient& arriving,
                           std::span<Parameter> /*parameters*/, kernels::GradientPlace gradient,
                           RowGradientSums& sums) const {
  const auto& [shape, affine, currents] = input;
  const int64_t classes = shape.channels;
  for (int64_t step = 0; step < shape.steps; ++step) {
    for (int64_t image = 0; image < shape.batch; ++image) {
      const int64_t row = sums.at(step, image / sums.split.images_per_row);
      for (int64_t k = 0; k < classes; ++k) {
        const int64_t at = (step * shape.batch + image) * classes + k;
        const float of_output = arriving.values.floats[at];
        gradient.floats[at] = of_output;
        sums.gradient[row + k] += of_output;
        sums.gradient_times_unit[row + k] +=
            of_output * unit_current(affine, currents, classes, step, image, k);
      }
    }
  }
}

}  // namespace bntt
