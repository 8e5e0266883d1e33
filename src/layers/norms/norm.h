#pragma once

#include <cstdint>
#include <memory>

#include "bntt/network_spec.h"
#include "bntt/norm_state.h"

namespace bntt {

/// Every norm is an affine map per step (or step and image) and channel, whose coefficients follow
/// from sums over rows. A row is a group of whole images at one step; rows are split by shape, so
/// sums do not depend on threads.
struct RowSplit {
  int64_t steps = 0;
  int64_t batch = 0;
  int64_t pixels = 0;
  int64_t channels = 0;
  int64_t images_per_row = 1;

  int64_t rows_per_step() const { return (batch + images_per_row - 1) / images_per_row; }
  int64_t images_in(int64_t row) const {
    return row + 1 < rows_per_step() ? images_per_row : batch - row * images_per_row;
  }
  int64_t samples_in(int64_t row) const { return images_in(row) * pixels; }
  int64_t size() const { return steps * rows_per_step() * channels; }
  int64_t at(int64_t step, int64_t row) const { return (step * rows_per_step() + row) * channels; }
};

/// Mean and squared deviations of the currents in each row.
struct RowMoments {
  RowSplit split;
  Buffer<float> mean;                // [step, row, channel]
  Buffer<float> squared_deviations;  // [step, row, channel]
};

/// Σ ∂L/∂y and Σ ∂L/∂y · x̂ in each row.
struct RowGradientSums {
  RowSplit split;
  Buffer<float> gradient;             // [row, step, channel]
  Buffer<float> gradient_times_unit;  // [row, step, channel]

  int64_t at(int64_t step, int64_t row) const {
    return (row * split.steps + step) * split.channels;
  }
};

/// ∂L/∂x = scale · ∂L/∂y − slope · x̂ − offset, with the rows of the NormTrace.
struct NormGradient {
  Buffer<float> scale;   // [step, row, channel]
  Buffer<float> slope;   // [step, row, channel]
  Buffer<float> offset;  // [step, row, channel]
};

/// Steps [first_step, first_step + split.steps) of the run; rows of γ and of running statistics are
/// counted from the run's first step where there is one per step.
class Norm {
 public:
  Norm(const NormSpec& spec, int64_t channels, int64_t run_steps)
      : spec_(spec), channels_(channels), run_steps_(run_steps) {}
  virtual ~Norm() = default;

  /// Rows of γ: one per step of the run, one, or none.
  virtual int64_t gain_rows() const = 0;
  virtual int64_t statistics_rows() const = 0;
  /// Statistics of each image alone: rows are single images, and evaluation needs moments too.
  virtual bool per_image() const { return false; }

  /// Coefficients from the batch; the running statistics follow.
  virtual NormTrace from_batch(const RowMoments& moments, int64_t first_step,
                               RunningStatistics& running) const = 0;

  /// Coefficients from the running statistics; `moments` only for norms that are per_image().
  virtual NormTrace from_running(const RowMoments& moments, int64_t first_step,
                                 const RunningStatistics& running) const = 0;

  /// The gradient's coefficients, and ∂L/∂γ written to `gain_gradient` [gain row, channel], which
  /// is zero before.
  virtual NormGradient backward(const NormTrace& trace, const RowGradientSums& sums,
                                int64_t first_step, NormMode mode, const float* gain,
                                float* gain_gradient) const = 0;

 protected:
  NormSpec spec_;
  int64_t channels_;
  int64_t run_steps_;
};

std::unique_ptr<Norm> make_norm(const NormSpec& spec, int64_t channels, int64_t run_steps);

}  // namespace bntt
