#include <cmath>

#include "bntt/batch_norms.h"

namespace bntt {
namespace {

/// tdBN (Zheng et al. 2021): y = γ · αθ (x − μ)/√(σ² + ε) + β, with the statistics of `bn-time`. If
/// n branches are added, α = 1/√n preserves the variance of their sum.
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

ThresholdDependentNorm::ThresholdDependentNorm(const NormSpec& spec, const NormPlace& place)
    : BatchNormOverTime(spec, place) {
  const float alpha =
      spec.alpha > 0.0F ? spec.alpha : 1.0F / std::sqrt(static_cast<float>(place.branches));
  factor_ = alpha * place.threshold;
}

void ThresholdDependentNorm::affine(int64_t run_step, std::span<const Parameter> parameters,
                                    const StepAffine& result) const {
  BatchNormOverTime::affine(run_step, parameters, result);
  for (int64_t c = 0; c < channels(); ++c) result.gain[c] *= factor_;
}

void ThresholdDependentNorm::add_gradient(int64_t run_step, const StepAffineGradient& gradient,
                                          std::span<Parameter> parameters) const {
  std::vector<float> gain(gradient.gain, gradient.gain + channels());
  for (float& value : gain) value *= factor_;
  BatchNormOverTime::add_gradient(run_step, {gain.data(), gradient.shift}, parameters);
}

}  // namespace

std::unique_ptr<Norm> make_tdbn(const NormSpec& spec, const NormPlace& place) {
  return std::make_unique<ThresholdDependentNorm>(spec, place);
}

}  // namespace bntt
