#pragma once

#include <string>
#include <vector>

#include "bntt/network_spec.h"

namespace bntt {

struct DeclaredTensor {
  std::string name;
  std::vector<int64_t> pytorch_shape;
};

/// Every parameter and running statistic of a network, without allocating memory for them.
std::vector<DeclaredTensor> declared_tensors(const NetworkSpec& spec);

}  // namespace bntt
