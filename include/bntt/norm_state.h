#pragma once

#include <cstdint>
#include <string>

#include "bntt/buffer.h"

namespace bntt {

/// Numbers that training only observes.
struct RunningStatistics {
  std::string name;        ///< conv1.norm; empty where the norm keeps none
  int64_t rows = 0;        ///< steps for BNTT, 1 for the shared kinds, 0 for none
  Buffer<float> mean;      ///< [row, channel]
  Buffer<float> variance;  ///< [row, channel], unbiased
};

/// Where a norm takes its statistics from.
enum class NormMode {
  batch,    ///< the batch at hand, as in training; running statistics follow it
  running,  ///< the running statistics: evaluation
};

/// x̂ = (x − mean) · inverse_deviation, with one row per step, or per step and image (layer norm);
/// and with γ folded in, y = γ x̂ = scale · x + shift.
struct NormTrace {
  int64_t rows_per_step = 1;        ///< 1, or the batch size
  Buffer<float> mean;               ///< [step, row, channel]
  Buffer<float> inverse_deviation;  ///< [step, row, channel]
  Buffer<float> scale;              ///< [step, row, channel]
  Buffer<float> shift;              ///< [step, row, channel]
};

}  // namespace bntt
