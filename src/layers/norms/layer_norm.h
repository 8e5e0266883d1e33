#pragma once

#include "bntt/norm.h"

namespace bntt {

/// Normalises each sample and step over channels and space; γ per channel, shared by the steps.
/// Behaves the same in training and evaluation.
class LayerNorm final : public Norm {
 public:
  using Norm::Norm;
  bool per_image() const override { return true; }
  NormTrace from_batch(const RowMoments& moments, int64_t first_step,
                       std::span<Statistic> statistics) const override;
  NormTrace from_running(const RowMoments& moments, int64_t first_step,
                         std::span<const Statistic> statistics) const override;
  NormGradient backward(const NormTrace& trace, const RowGradientSums& sums, int64_t first_step,
                        NormMode mode, std::span<Parameter> parameters) const override;
};

}  // namespace bntt
