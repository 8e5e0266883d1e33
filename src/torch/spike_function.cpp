#include "torch/spike_function.h"

#include <torch/torch.h>

#include <numbers>

#include "base/check.h"

namespace bntt {
namespace {

torch::Tensor surrogate_derivative(const torch::Tensor& membrane, double threshold, double width,
                                   double alpha, SurrogateKind kind) {
  const torch::Tensor distance = (membrane - threshold) / width;
  switch (kind) {
    case SurrogateKind::triangle:
      return alpha * torch::clamp_min(1.0 - distance.abs(), 0.0);
    case SurrogateKind::sigmoid: {
      const torch::Tensor logistic = torch::sigmoid(4.0 * distance);
      return alpha * 4.0 * logistic * (1.0 - logistic);
    }
    case SurrogateKind::arctan:
      return alpha / (1.0 + torch::square(std::numbers::pi * distance));
    case SurrogateKind::rectangle:
      return alpha * (distance.abs() < 0.5).to(membrane.dtype());
    case SurrogateKind::stdb:
      break;  // not a function of the membrane: see spike()
  }
  BNTT_CHECK(false);
}

struct SpikeFunction : torch::autograd::Function<SpikeFunction> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& /*membrane*/, const torch::Tensor& value,
                               const torch::Tensor& derivative) {
    context->save_for_backward({derivative});
    return value.clone();
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               const torch::autograd::tensor_list& gradients) {
    return {gradients[0] * context->get_saved_variables()[0], {}, {}};
  }
};

}  // namespace

torch::Tensor spike(const torch::Tensor& membrane, const NeuronSpec& neuron,
                    const torch::Tensor& imposed, const torch::Tensor& steps_since_spike) {
  const double threshold = neuron.threshold;
  const double width = neuron.surrogate.width == 0.0F ? threshold : neuron.surrogate.width;
  const double alpha =
      neuron.surrogate.per_threshold ? neuron.surrogate.alpha / threshold : neuron.surrogate.alpha;
  const torch::Tensor fires =
      neuron.fire == Fire::ge ? membrane >= threshold : membrane > threshold;
  const torch::Tensor value = (imposed.defined() ? imposed : fires).to(membrane.dtype());
  const torch::Tensor derivative =
      neuron.surrogate.kind == SurrogateKind::stdb
          ? alpha * torch::exp(-static_cast<double>(neuron.surrogate.decay) * steps_since_spike)
          : surrogate_derivative(membrane.detach(), threshold, width, alpha, neuron.surrogate.kind);
  return SpikeFunction::apply(membrane, value.detach(), derivative);
}

}  // namespace bntt
