#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bntt/api.h"
#include "bntt/buffer.h"

namespace bntt {

/// The role of a parameter: an optimiser may treat the groups differently.
enum class ParameterGroup {
  weight,  ///< of a synapse
  gain,    ///< γ of a norm
  shift,   ///< β of a norm
  bias,    ///< of a synapse
  neuron,  ///< of the neurons of a stage
};

/// Numbers that training changes, with their gradient.
struct Parameter {
  std::string name;  ///< as in a state dict: conv1.weight, conv1.norm.weight, conv1.neuron.a
  ParameterGroup group = ParameterGroup::weight;  ///< its role
  std::vector<int64_t> pytorch_shape;             ///< as in a state dict
  /// Weights are stored as [tap or pixel, in, out], where PyTorch has [out, in, tap or pixel]; for
  /// them this is `in`. 0: stored in PyTorch's order.
  int64_t input_channels = 0;
  Buffer<float> value;     ///< in the order of `input_channels`
  Buffer<float> gradient;  ///< empty until the first backward pass
};

/// Numbers that training measures: running means and variances.
struct Statistic {
  std::string name;                    ///< conv1.norm.running_mean
  std::vector<int64_t> pytorch_shape;  ///< also the order in memory
  Buffer<float> value;                 ///< in PyTorch's order
};

/// From the order in memory to PyTorch's. Throws Error unless there are as many values as the
/// parameter's shape requires. May be called from several threads.
BNTT_API Buffer<float> to_pytorch_order(const Parameter& parameter, const Buffer<float>& values);
/// The other way round; throws Error like it.
BNTT_API Buffer<float> from_pytorch_order(const Parameter& parameter, const Buffer<float>& values);

}  // namespace bntt
