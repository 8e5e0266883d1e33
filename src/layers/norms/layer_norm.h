#pragma once

#include "layers/norms/norm.h"

namespace bntt {

/// Per sample and step over channels and space; γ per channel, shared by the steps. The same in
/// training and evaluation.
class LayerNorm final : public Norm {
 public:
  using Norm::Norm;
  int64_t gain_rows() const override { return 1; }
  int64_t statistics_rows() const override { return 0; }
  bool per_image() const override { return true; }
  NormTrace from_batch(const RowMoments& moments, int64_t first_step,
                       RunningStatistics& running) const override;
  NormTrace from_running(const RowMoments& moments, int64_t first_step,
                         const RunningStatistics& running) const override;
  NormGradient backward(const NormTrace& trace, const RowGradientSums& sums, int64_t first_step,
                        NormMode mode, const float* gain, float* gain_gradient) const override;
};

}  // namespace bntt
