#pragma once

#include "bntt/norm.h"

namespace bntt {

/// y = x.
class NoNorm final : public Norm {
 public:
  NoNorm(const NormSpec& spec, const NormPlace& place);
  std::vector<ParameterDeclaration> parameters() const override { return {}; }
  NormTrace from_batch(const RowMoments& moments, int64_t first_step,
                       std::span<Statistic> statistics) const override;
  NormTrace from_running(const RowMoments& moments, int64_t first_step,
                         std::span<const Statistic> statistics) const override;
  NormGradient backward(const NormTrace& trace, const RowGradientSums& sums, int64_t first_step,
                        NormMode mode, std::span<Parameter> parameters) const override;

 private:
  void affine(int64_t run_step, std::span<const Parameter> parameters,
              const StepAffine& result) const override;
};

}  // namespace bntt
