#pragma once

#include <vector>

#include "layers/neurons/neurons.h"

namespace bntt::testing {

inline StagePlan stage_of(const NeuronSpec& neuron, const MapShape& map = {1, 1, 1}) {
  StagePlan plan;
  plan.name = "stage";
  plan.neuron = neuron;
  plan.output = map;
  return plan;
}

inline std::vector<Parameter> first_parameters(const Neurons& neurons) {
  std::vector<Parameter> parameters;
  for (const ParameterDeclaration& declared : neurons.parameters()) {
    const int64_t size = size_of(declared.pytorch_shape);
    Parameter parameter{.name = declared.name,
                        .group = declared.group,
                        .pytorch_shape = declared.pytorch_shape,
                        .value = Buffer<float>(size),
                        .gradient = Buffer<float>::zeros(size)};
    parameter.value.fill(std::get<float>(declared.start));
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

/// Real-valued currents of a few steps, as the neurons of a stage without norm are given them.
class Driven {
 public:
  Driven(int64_t steps, int64_t channels) : steps_(steps), channels_(channels) {
    current = Buffer<float>::zeros(steps * channels);
  }

  NeuronInput input(const Neurons& neurons, const std::vector<Parameter>& parameters) {
    scale_ = Buffer<float>(steps_ * channels_);
    scale_.fill(neurons.input_factor(parameters));
    zeros_ = Buffer<float>::zeros(steps_ * channels_);
    ones_ = Buffer<float>(steps_ * channels_);
    ones_.fill(1.0F);
    return {{steps_, 1, 1, channels_},
            {scale_.data(), zeros_.data(), zeros_.data(), ones_.data()},
            {.data = current.data(), .step_stride = channels_}};
  }

  Buffer<float> current;  // [step, channel]

 private:
  int64_t steps_;
  int64_t channels_;
  Buffer<float> scale_, zeros_, ones_;
};

}  // namespace bntt::testing
