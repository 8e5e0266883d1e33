#pragma once

#include "layers/norms/norm.h"

namespace bntt {

/// What the three batch norms share: statistics over a group of steps, all images and all pixels; x̂
/// = (x − μ)/√(σ² + ε), y = γ x̂. They differ in which steps form a group, and in which row of γ and
/// of the running statistics a step uses.
class BatchNorm : public Norm {
 public:
  using Norm::Norm;
  NormTrace from_batch(const RowMoments& moments, int64_t first_step,
                       RunningStatistics& running) const final;
  NormTrace from_running(const RowMoments& moments, int64_t first_step,
                         const RunningStatistics& running) const final;
  NormGradient backward(const NormTrace& trace, const RowGradientSums& sums, int64_t first_step,
                        NormMode mode, const float* gain, float* gain_gradient) const final;

 protected:
  /// Whether all steps of the window form one group; otherwise each step is its own.
  virtual bool all_steps_together() const = 0;

 private:
  int64_t row_of(int64_t run_step, int64_t rows) const { return rows == run_steps_ ? run_step : 0; }
};

/// BNTT (the paper's Algorithm 1): every step has its own statistics and its own γ.
class BatchNormThroughTime final : public BatchNorm {
 public:
  using BatchNorm::BatchNorm;
  int64_t gain_rows() const override { return run_steps_; }
  int64_t statistics_rows() const override { return run_steps_; }

 private:
  bool all_steps_together() const override { return false; }
};

/// `bn`: one module called at every step; each call normalises by its own batch.
class BatchNormPerStep final : public BatchNorm {
 public:
  using BatchNorm::BatchNorm;
  int64_t gain_rows() const override { return 1; }
  int64_t statistics_rows() const override { return 1; }

 private:
  bool all_steps_together() const override { return false; }
};

/// `bn-time`: one set of statistics over batch, space and all steps.
class BatchNormOverTime final : public BatchNorm {
 public:
  using BatchNorm::BatchNorm;
  int64_t gain_rows() const override { return 1; }
  int64_t statistics_rows() const override { return 1; }

 private:
  bool all_steps_together() const override { return true; }
};

}  // namespace bntt
