#pragma once

#include <vector>

#include "bntt/network.h"

namespace bntt {

struct SgdOptions {
  double momentum = 0.9;
  double weight_decay = 5e-4;
  bool decay_gamma = true;  ///< whether weight decay pulls γ too
  double clip_norm = 0.0;   ///< largest norm of all gradients together; 0: no limit
};

/// v ← momentum · v + (gradient + weight_decay · w);  w ← w − learning_rate · v. As PyTorch's SGD,
/// v starts at 0.
class Sgd {
 public:
  Sgd(const Network& network, const SgdOptions& options);

  void step(Network& network, double learning_rate);

  /// One per parameter, in the parameter's own order.
  std::vector<Buffer<float>>& velocities() { return velocities_; }
  const std::vector<Buffer<float>>& velocities() const { return velocities_; }

 private:
  SgdOptions options_;
  std::vector<Buffer<float>> velocities_;
};

}  // namespace bntt
