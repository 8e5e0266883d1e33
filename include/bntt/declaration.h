#pragma once

#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "bntt/parameter.h"

namespace bntt {

/// Xavier uniform with gain 2: U(−a, a), a = 2 √(6 / (fan_in + fan_out)).
struct XavierStart {
  int64_t fan_in = 1;
  int64_t fan_out = 1;
};

/// A parameter as a piece of the network declares it. Network, optimiser, checkpoints, export,
/// oracle and tests learn from declarations what numbers there are, and from nowhere else.
struct ParameterDeclaration {
  std::string name;  ///< within its piece: weight, bias, step_scale
  ParameterGroup group = ParameterGroup::weight;
  std::vector<int64_t> pytorch_shape;
  int64_t input_channels = 0;  ///< see Parameter
  std::variant<float, XavierStart> start = 0.0F;
};

/// The same for a running statistic.
struct StatisticDeclaration {
  std::string name;
  std::vector<int64_t> pytorch_shape;
  float start = 0.0F;
};

inline int64_t size_of(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

inline int64_t size_of(const std::vector<ParameterDeclaration>& declarations) {
  int64_t size = 0;
  for (const ParameterDeclaration& declared : declarations) size += size_of(declared.pytorch_shape);
  return size;
}

}  // namespace bntt
