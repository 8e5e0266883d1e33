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
  }
  BNTT_CHECK(false);
}

struct SpikeFunction : torch::autograd::Function<SpikeFunction> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& membrane, const torch::Tensor& value,
                               double threshold, double width, double alpha, int64_t kind) {
    context->save_for_backward({membrane});
    context->saved_data["threshold"] = threshold;
    context->saved_data["width"] = width;
    context->saved_data["alpha"] = alpha;
    context->saved_data["kind"] = kind;
    return value.clone();
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               const torch::autograd::tensor_list& gradients) {
    const torch::Tensor membrane = context->get_saved_variables()[0];
    const torch::Tensor derivative = surrogate_derivative(
        membrane, context->saved_data["threshold"].toDouble(),
        context->saved_data["width"].toDouble(), context->saved_data["alpha"].toDouble(),
        static_cast<SurrogateKind>(context->saved_data["kind"].toInt()));
    return {gradients[0] * derivative, {}, {}, {}, {}, {}};
  }
};

}  // namespace

torch::Tensor spike(const torch::Tensor& membrane, const NeuronSpec& neuron,
                    const torch::Tensor& imposed) {
  const double threshold = neuron.threshold;
  const double width = neuron.surrogate.width == 0.0F ? threshold : neuron.surrogate.width;
  const double alpha = neuron.surrogate.alpha;
  const torch::Tensor fires =
      neuron.fire == Fire::ge ? membrane >= threshold : membrane > threshold;
  const torch::Tensor value = (imposed.defined() ? imposed : fires).to(membrane.dtype());
  return SpikeFunction::apply(membrane, value.detach(), threshold, width,
                              neuron.surrogate.per_threshold ? alpha / threshold : alpha,
                              static_cast<int64_t>(neuron.surrogate.kind));
}

}  // namespace bntt
