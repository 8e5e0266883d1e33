#pragma once

#include "layers/norms/batch_norm.h"

namespace bntt {

/// tdBN (Zheng et al. 2021): y = γ · αθ (x − μ)/√(σ² + ε) + β, statistics as `bn-time`. Where n
/// branches meet, α = 1/√n keeps the variance of their sum.
class ThresholdDependentNorm final : public BatchNormOverTime {
 public:
  ThresholdDependentNorm(const NormSpec& spec, const NormPlace& place);

 private:
  void affine(int64_t run_step, std::span<const Parameter> parameters,
              const StepAffine& result) const override;
  void add_gradient(int64_t run_step, const StepAffineGradient& gradient,
                    std::span<Parameter> parameters) const override;

  float factor_;  // αθ
};

}  // namespace bntt
