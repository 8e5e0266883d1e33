#pragma once

#include "layers/norms/batch_norm.h"

namespace bntt {

/// TEBN (Duan et al. 2022): y_t = p_t (γ x̂_t + β), statistics as `bn-time`; p (`step_scale`) is one
/// number per step, which starts at 1.
class TemporalEffectiveNorm final : public BatchNormOverTime {
 public:
  using BatchNormOverTime::BatchNormOverTime;
  std::vector<ParameterDeclaration> parameters() const override;

 private:
  void affine(int64_t run_step, std::span<const Parameter> parameters,
              const StepAffine& result) const override;
  void add_gradient(int64_t run_step, const StepAffineGradient& gradient,
                    std::span<Parameter> parameters) const override;
};

}  // namespace bntt
