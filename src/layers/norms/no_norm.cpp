#include "layers/norms/no_norm.h"

#include <algorithm>

#include "base/fail.h"
#include "layers/norms/norm_checks.h"

namespace bntt {
namespace {

NormTrace identity(const RowSplit& split) {
  expect_split(split, split.channels);
  const int64_t size = split.steps * split.channels;
  NormTrace trace{1, Buffer<float>::zeros(size), Buffer<float>(size)};
  trace.inverse_deviation.fill(1.0F);
  return trace;
}

}  // namespace

NoNorm::NoNorm(const NormSpec& spec, const NormPlace& place) : Norm(spec, place) {
  if (spec.shift) fail("norm 'none' has no shift; a synapse may have a bias");
}

NormTrace NoNorm::from_batch(const RowMoments& moments, int64_t /*first_step*/,
                             std::span<Statistic> /*statistics*/) const {
  return identity(moments.split);
}

NormTrace NoNorm::from_running(const RowMoments& moments, int64_t /*first_step*/,
                               std::span<const Statistic> /*statistics*/) const {
  return identity(moments.split);
}

void NoNorm::affine(int64_t /*run_step*/, std::span<const Parameter> /*parameters*/,
                    const StepAffine& result) const {
  std::fill_n(result.gain, channels(), 1.0F);
}

NormGradient NoNorm::backward(const NormTrace& trace, const RowGradientSums& /*sums*/,
                              int64_t /*first_step*/, NormMode mode,
                              std::span<Parameter> /*parameters*/) const {
  expect_norm_mode("norm", mode);
  const int64_t size = trace.inverse_deviation.size();
  return {trace.inverse_deviation, Buffer<float>::zeros(size), Buffer<float>::zeros(size)};
}

}  // namespace bntt
