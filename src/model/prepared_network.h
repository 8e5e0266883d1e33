#pragma once

#include <memory>
#include <vector>

#include "layers/synapses/prepared_weights.h"

namespace bntt {

/// The weights of all branches in the layouts that inference reads.
class PreparedNetwork {
 public:
  std::vector<std::vector<std::unique_ptr<PreparedWeights>>> stages;  // [stage][branch]
};

}  // namespace bntt
