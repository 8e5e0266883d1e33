#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bntt/api.h"
#include "bntt/buffer.h"

namespace bntt {

/// The role of a parameter: an optimiser may treat the groups differently.
enum class ParameterGroup { weight, gain, shift, bias, neuron };

/// Numbers that training changes, with their gradient.
struct Parameter {
  std::string name;  ///< as in a state dict: conv1.weight, conv1.norm.weight, conv1.neuron.a
  ParameterGroup group = ParameterGroup::weight;
  std::vector<int64_t> pytorch_shape;
  /// Weights are stored as [tap or pixel, in, out], where PyTorch has [out, in, tap or pixel]; for
  /// them this is `in`. 0: stored in PyTorch's order.
  int64_t input_channels = 0;
  Buffer<float> value;
  Buffer<float> gradient;  ///< empty until the first backward pass
};

/// Numbers that training measures: running means and variances.
struct Statistic {
  std::string name;                    ///< conv1.norm.running_mean
  std::vector<int64_t> pytorch_shape;  ///< also the order in memory
  Buffer<float> value;
};

/// From the order in memory to PyTorch's, and back. Throws Error unless there are as many values as
/// the parameter's shape requires.
BNTT_API Buffer<float> to_pytorch_order(const Parameter& parameter, const Buffer<float>& values);
BNTT_API Buffer<float> from_pytorch_order(const Parameter& parameter, const Buffer<float>& values);

}  // namespace bntt
