#include "layers/norms/no_norm.h"

namespace bntt {
namespace {

NormTrace identity(const RowSplit& split) {
  const int64_t size = split.steps * split.channels;
  NormTrace trace{1, Buffer<float>::zeros(size), Buffer<float>(size)};
  trace.inverse_deviation.fill(1.0F);
  return trace;
}

}  // namespace

NormTrace NoNorm::from_batch(const RowMoments& moments, int64_t /*first_step*/,
                             RunningStatistics& /*running*/) const {
  return identity(moments.split);
}

NormTrace NoNorm::from_running(const RowMoments& moments, int64_t /*first_step*/,
                               const RunningStatistics& /*running*/) const {
  return identity(moments.split);
}

NormGradient NoNorm::backward(const NormTrace& trace, const RowGradientSums& /*sums*/,
                              int64_t /*first_step*/, NormMode /*mode*/, const float* /*gain*/,
                              float* /*gain_gradient*/) const {
  return {trace.inverse_deviation, trace.mean, trace.mean};  // 1, 0, 0
}

}  // namespace bntt
