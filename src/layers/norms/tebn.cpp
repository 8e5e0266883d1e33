#include "base/fail.h"
#include "bntt/batch_norms.h"

namespace bntt {
namespace {

/// TEBN (Duan et al. 2022): y_t = p_t (γ x̂_t + β), with the statistics of `bn-time`; p
/// (`step_scale`) is one number per step, initially 1.
class TemporalEffectiveNorm final : public BatchNormOverTime {
 public:
  using BatchNormOverTime::BatchNormOverTime;
  std::vector<ParameterDeclaration> parameters() const override;

 private:
  void affine(int64_t run_step, std::span<const Parameter> parameters,
              const StepAffine& result) const override;
  void add_gradient(int64_t run_step, const StepAffineGradient& gradient,
                    std::span<Parameter> parameters) const override;
  float step_scale_at(int64_t run_step, std::span<const Parameter> parameters) const;
};

std::vector<ParameterDeclaration> TemporalEffectiveNorm::parameters() const {
  std::vector<ParameterDeclaration> declared = BatchNormOverTime::parameters();
  declared.push_back({.name = "step_scale",
                      .group = ParameterGroup::gain,
                      .pytorch_shape = {place_.run_steps},
                      .start = 1.0F});
  return declared;
}

float TemporalEffectiveNorm::step_scale_at(int64_t run_step,
                                           std::span<const Parameter> parameters) const {
  const std::size_t count = has_shift() ? 3 : 2;
  if (parameters.size() != count || parameters.back().value.size() != place_.run_steps) {
    fail("norm 'tebn': {} parameters, expected {}, the last one with a factor for each of {} steps",
         parameters.size(), count, place_.run_steps);
  }
  return parameters.back().value[checked_row(run_step, true) / channels()];
}

void TemporalEffectiveNorm::affine(int64_t run_step, std::span<const Parameter> parameters,
                                   const StepAffine& result) const {
  BatchNormOverTime::affine(run_step, parameters, result);
  const float step_scale = step_scale_at(run_step, parameters);
  for (int64_t c = 0; c < channels(); ++c) {
    result.gain[c] *= step_scale;
    if (has_shift()) result.shift[c] *= step_scale;
  }
}

// ∂L/∂p_t = Σ ∂L/∂y (γ x̂ + β); the gradients of γ and β are p_t times those of `bn-time`.
void TemporalEffectiveNorm::add_gradient(int64_t run_step, const StepAffineGradient& gradient,
                                         std::span<Parameter> parameters) const {
  const float step_scale = step_scale_at(run_step, parameters);
  if (parameters.back().gradient.size() != parameters.back().value.size()) {
    fail("norm 'tebn': the factors of the steps have no gradient");
  }
  const Buffer<float>& gamma = parameters[0].value;
  std::vector<float> gain(channels());
  std::vector<float> shift(channels());
  double of_step = 0.0;
  for (int64_t c = 0; c < channels(); ++c) {
    gain[c] = step_scale * gradient.gain[c];
    shift[c] = step_scale * gradient.shift[c];
    of_step += static_cast<double>(gamma[c]) * gradient.gain[c];
    if (has_shift()) of_step += static_cast<double>(parameters[1].value[c]) * gradient.shift[c];
  }
  parameters.back().gradient[run_step] += static_cast<float>(of_step);
  BatchNormOverTime::add_gradient(run_step, {gain.data(), shift.data()}, parameters);
}

}  // namespace

std::unique_ptr<Norm> make_tebn(const NormSpec& spec, const NormPlace& place) {
  return std::make_unique<TemporalEffectiveNorm>(spec, place);
}

}  // namespace bntt
