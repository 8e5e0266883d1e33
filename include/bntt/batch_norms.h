#pragma once

#include "bntt/api.h"
#include "bntt/norm.h"

namespace bntt {

/// The common part of the batch norms: statistics over a group of steps, all images and all pixels;
/// x̂ = (x − μ)/√(σ² + ε). They differ in which steps form a group, in whether every step has
/// running statistics of its own, and in their affine map.
class BNTT_API BatchNorm : public Norm {
 public:
  using Norm::Norm;
  /// Running mean and variance: [step, channel] or [channel].
  std::vector<StatisticDeclaration> statistics() const final;
  NormTrace from_batch(const RowMoments& moments, int64_t first_step,
                       std::span<Statistic> statistics) const final;
  NormTrace from_running(const RowMoments& moments, int64_t first_step,
                         std::span<const Statistic> statistics) const final;
  NormGradient backward(const NormTrace& trace, const RowGradientSums& sums, int64_t first_step,
                        NormMode mode, std::span<Parameter> parameters) const final;

 protected:
  /// Whether all steps of the window form one group; otherwise each step is a group of its own.
  virtual bool all_steps_together() const { return false; }
  /// Whether every step of the run has running statistics of its own.
  virtual bool statistics_per_step() const { return false; }
};

/// BNTT (the paper's Algorithm 1): every step has its own statistics and its own γ.
class BNTT_API BatchNormThroughTime final : public BatchNorm {
 public:
  using BatchNorm::BatchNorm;
  bool zero_gain_silences_step() const override { return !has_shift(); }

 private:
  bool affine_per_step() const override { return true; }
  bool statistics_per_step() const override { return true; }
};

/// `bn`: one module called at every step; each call normalises by the statistics of its own batch.
class BNTT_API BatchNormPerStep final : public BatchNorm {
 public:
  using BatchNorm::BatchNorm;
};

/// `bn-time`: one set of statistics over batch, space and all steps.
class BNTT_API BatchNormOverTime : public BatchNorm {
 public:
  using BatchNorm::BatchNorm;

 private:
  bool all_steps_together() const final { return true; }
};

}  // namespace bntt
