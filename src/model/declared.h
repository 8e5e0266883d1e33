#pragma once

#include <string>
#include <vector>

#include "bntt/network_spec.h"

namespace bntt {

struct DeclaredTensor {
  std::string name;
  std::vector<int64_t> pytorch_shape;
};

/// Every parameter and running statistic that a network has, without taking memory for it.
std::vector<DeclaredTensor> declared_tensors(const NetworkSpec& spec);

}  // namespace bntt
