#pragma once

#include "bntt/optimizer.h"

namespace bntt {

/// v ← momentum · v + (gradient + weight_decay · w);  w ← w − learning_rate · v. As in PyTorch's
/// SGD, v starts at 0.
class Sgd final : public Optimizer {
 public:
  Sgd(const Network& network, const OptimizerOptions& options)
      : Optimizer(network, options, {"optimizer."}) {}

 private:
  void move(std::size_t index, const Pull& pull, double learning_rate,
            std::span<float> value) override;
};

}  // namespace bntt
