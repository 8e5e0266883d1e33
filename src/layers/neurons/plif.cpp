#include <cmath>
#include <numeric>

#include "base/fail.h"
#include "kernels/step_row.h"
#include "layers/neurons/blocks.h"
#include "layers/neurons/spiking_neurons.h"

namespace bntt {
namespace {

/// PLIF (Fang et al. 2021): v = u + k (y − u) = (1 − k) u + k y with k = sigmoid(a), one a per
/// stage. So the leak is 1 − k, and the input has the factor k. The first value of `a` makes 1 − k
/// the leak of the spec.
class ParametricLif final : public SpikingNeurons {
 public:
  ParametricLif(const StagePlan& plan, Propagation propagation);

  std::vector<ParameterDeclaration> parameters() const override;
  float input_factor(std::span<const Parameter> parameters) const override;
  void backward(const NeuronInput& input, const kernels::SpikeGradient& arriving,
                std::span<Parameter> parameters, kernels::GradientPlace gradient,
                RowGradientSums& sums) const override;

 private:
  kernels::Dynamics current_dynamics(std::span<const Parameter> parameters) const override;
};

double sigmoid(double a) { return 1.0 / (1.0 + std::exp(-a)); }

/// Σ over steps and neurons of a block of ∂L/∂v_t (k y_t − k w_{t−1}), where w is the membrane
/// after its reset and before its leak.
double sum_of_block(const NeuronInput& input, const kernels::Dynamics& dynamics, double factor,
                    const kernels::PixelBlock& block, kernels::GradientView gradient) {
  const kernels::NeuronShape& shape = input.shape;
  const int64_t size = (block.end - block.begin) * shape.channels;
  std::vector<float> membrane(size);
  double sum = 0.0;
  for (int64_t step = 0; step < shape.steps; ++step) {
    const kernels::StepRow row(shape, input.affine, input.currents, block, step);
    const kernels::GradientView of_step = gradient.from(
        ((step * shape.batch + block.image) * shape.pixels + block.begin) * shape.channels);
    for (int64_t i = 0; i < size; ++i) {
      const int64_t pixel = i / shape.channels;
      const int64_t c = i % shape.channels;
      float left = 0.0F;
      float carry = 0.0F;
      if (step > 0) {
        const bool fired = dynamics.fires(membrane[i]);
        left = dynamics.left_to_leak(membrane[i], fired);
        carry = dynamics.carried(membrane[i], fired);
      }
      const float drive = row.add_to(0.0F, pixel, shape.channels, c);
      sum += of_step.at(i) * (drive - factor * left);
      membrane[i] = dynamics.membrane(row.add_to(carry, pixel, shape.channels, c));
    }
  }
  return sum;
}

ParametricLif::ParametricLif(const StagePlan& plan, Propagation propagation)
    : SpikingNeurons(plan, propagation) {
  if (dynamics_.leak >= 1.0F) {
    fail("neuron 'plif' has leak {}, expected a number above 0 and below 1", dynamics_.leak);
  }
}

std::vector<ParameterDeclaration> ParametricLif::parameters() const {
  const double factor = 1.0 - static_cast<double>(dynamics_.leak);
  return {{.name = "a",
           .group = ParameterGroup::neuron,
           .pytorch_shape = {1},
           .start = static_cast<float>(std::log(factor / (1.0 - factor)))}};
}

float ParametricLif::input_factor(std::span<const Parameter> parameters) const {
  return static_cast<float>(sigmoid(parameters[0].value[0]));
}

kernels::Dynamics ParametricLif::current_dynamics(std::span<const Parameter> parameters) const {
  kernels::Dynamics dynamics = dynamics_;
  dynamics.leak = static_cast<float>(1.0 - sigmoid(parameters[0].value[0]));
  return dynamics;
}

// ∂v_t/∂a = k (1 − k)(y_t − w_{t−1}); ∂L/∂v_t includes the gradient through later steps.
void ParametricLif::backward(const NeuronInput& input, const kernels::SpikeGradient& arriving,
                             std::span<Parameter> parameters, kernels::GradientPlace gradient,
                             RowGradientSums& sums) const {
  SpikingNeurons::backward(input, arriving, parameters, gradient, sums);
  const kernels::Dynamics dynamics = current_dynamics(parameters);
  const double factor = sigmoid(parameters[0].value[0]);
  const int64_t pixels = pixels_per_block(input.shape);
  const int64_t blocks = (input.shape.pixels + pixels - 1) / pixels;
  std::vector<double> of_blocks(input.shape.batch * blocks);
  for_each_block(input.shape, [&](const kernels::PixelBlock& block) {
    of_blocks[block.image * blocks + block.begin / pixels] =
        sum_of_block(input, dynamics, factor, block, gradient.view());
  });
  const double sum = std::accumulate(of_blocks.begin(), of_blocks.end(), 0.0);
  parameters[0].gradient[0] += static_cast<float>((1.0 - factor) * sum);
}

}  // namespace

std::unique_ptr<Neurons> make_plif(const StagePlan& plan, Propagation propagation) {
  return std::make_unique<ParametricLif>(plan, propagation);
}

}  // namespace bntt
