#include "layers/neurons/accumulator.h"

#include <cmath>

namespace bntt {
namespace {

float unit_current(const kernels::Affine& affine, const kernels::Currents& currents,
                   int64_t classes, int64_t step, int64_t image, int64_t k) {
  const int64_t row = affine.row(step, image) * classes + k;
  const float x = currents.at(step * currents.step_stride + image * classes + k);
  return (x - affine.mean[row]) * affine.inverse_deviation[row];
}

}  // namespace

Signal Accumulator::forward(const kernels::NeuronShape& shape, const kernels::Affine& affine,
                            const kernels::Currents& currents, float* carry) const {
  const int64_t classes = shape.channels;
  for (int64_t step = 0; step < shape.steps; ++step) {
    for (int64_t image = 0; image < shape.batch; ++image) {
      const int64_t row = affine.row(step, image) * classes;
      const kernels::Currents current =
          currents.from(step * currents.step_stride + image * classes);
      for (int64_t k = 0; k < classes; ++k) {
        float& voltage = carry[image * classes + k];
        voltage = std::fma(current.at(k), affine.scale[row + k], voltage + affine.shift[row + k]);
      }
    }
  }
  return {};
}

void Accumulator::backward(const kernels::NeuronShape& shape, const kernels::Affine& affine,
                           const kernels::Currents& currents,
                           const kernels::SpikeGradient& arriving, float* norm_gradient,
                           RowGradientSums& sums) const {
  const int64_t classes = shape.channels;
  for (int64_t step = 0; step < shape.steps; ++step) {
    for (int64_t image = 0; image < shape.batch; ++image) {
      const int64_t row = sums.at(step, image / sums.split.images_per_row);
      for (int64_t k = 0; k < classes; ++k) {
        const float gradient = arriving.data[image * classes + k];
        norm_gradient[(step * shape.batch + image) * classes + k] = gradient;
        sums.gradient[row + k] += gradient;
        sums.gradient_times_unit[row + k] +=
            gradient * unit_current(affine, currents, classes, step, image, k);
      }
    }
  }
}

}  // namespace bntt
