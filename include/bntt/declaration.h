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
  int64_t fan_in = 1;
  int64_t fan_out = 1;
  bool convolution = false;
};

/// A parameter as declared by a part of the network. Network, optimiser, checkpoints and export
/// know the numbers of a network only from such declarations.
struct ParameterDeclaration {
  std::string name;  ///< within its part: weight, bias, step_scale
  ParameterGroup group = ParameterGroup::weight;
  std::vector<int64_t> pytorch_shape;
  int64_t input_channels = 0;  ///< see Parameter
  std::variant<float, DrawnStart> start = 0.0F;
};

/// The same for a running statistic.
struct StatisticDeclaration {
  std::string name;
  std::vector<int64_t> pytorch_shape;
  float start = 0.0F;
};

/// The number of elements of a tensor. Throws Error for a negative extent, and if the number
/// exceeds int64_t.
inline int64_t size_of(const std::vector<int64_t>& shape) {
  int64_t size = 1;
  for (const int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(size, extent, &size)) {
      throw Error("a shape has an extent below 0, or more numbers than any memory can hold");
    }
  }
  return size;
}

inline int64_t size_of(const std::vector<ParameterDeclaration>& declarations) {
  int64_t size = 0;
  for (const ParameterDeclaration& declared : declarations) size += size_of(declared.pytorch_shape);
  return size;
}

}  // namespace bntt
