#pragma once

#include "bntt/optimizer.h"

namespace bntt {

/// Adam (Kingma and Ba) as in PyTorch, with g = gradient + weight_decay · w in step t = 1, 2, ...:
///   m ← β₁ m + (1 − β₁) g;  s ← β₂ s + (1 − β₂) g²
///   w ← w − learning_rate / (1 − β₁ᵗ) · m / (√(s / (1 − β₂ᵗ)) + ε)
/// AMSGrad uses the largest s so far instead of s in the denominator.
class Adam final : public Optimizer {
 public:
  Adam(const Network& network, const OptimizerOptions& options);

 private:
  void move(std::size_t index, const Pull& pull, double learning_rate,
            std::span<float> value) override;
};

}  // namespace bntt
