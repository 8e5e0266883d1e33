#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "bntt/error.h"
#include "bntt/parameter.h"

namespace bntt {

/// Drawn from the distribution of the network's Init.
struct DrawnStart {
  int64_t fan_in = 1;        ///< inputs of one output neuron
  int64_t fan_out = 1;       ///< outputs that one input neuron reaches
  bool convolution = false;  ///< whether the weights are those of a convolution
};

/// A parameter as declared by a part of the network. Network, optimiser, checkpoints and export
/// know the numbers of a network only from such declarations.
struct ParameterDeclaration {
  std::string name;                               ///< within its part: weight, bias, step_scale
  ParameterGroup group = ParameterGroup::weight;  ///< its role
  std::vector<int64_t> pytorch_shape;             ///< as in a state dict
  int64_t input_channels = 0;                     ///< see Parameter
  std::variant<float, DrawnStart> start = 0.0F;   ///< the initial value, or how it is drawn
};

/// The same for a running statistic.
struct StatisticDeclaration {
  std::string name;                    ///< within its part: running_mean
  std::vector<int64_t> pytorch_shape;  ///< as in a state dict
  float start = 0.0F;                  ///< the initial value
};

/// The number of elements of a tensor. Throws Error for a negative extent, and if the number
/// exceeds int64_t. Thread-safe, as is the next one.
inline int64_t size_of(const std::vector<int64_t>& shape) {
  int64_t size = 1;
  for (const int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(size, extent, &size)) {
      throw Error("a shape has an extent below 0, or more numbers than any memory can hold");
    }
  }
  return size;
}

/// The number of elements of all these parameters. Throws Error like the function above.
inline int64_t size_of(const std::vector<ParameterDeclaration>& declarations) {
  int64_t size = 0;
  for (const ParameterDeclaration& declared : declarations) {
    if (__builtin_add_overflow(size, size_of(declared.pytorch_shape), &size)) {
      throw Error("parameters have more numbers than any memory can hold");
    }
  }
  return size;
}

}  // namespace bntt
