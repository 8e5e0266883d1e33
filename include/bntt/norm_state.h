#pragma once

#include <cstdint>

#include "bntt/buffer.h"

namespace bntt {

/// Where a norm takes its statistics from.
enum class NormMode {
  batch,    ///< the batch at hand, as in training; running statistics follow it
  running,  ///< the running statistics: evaluation
};

/// x̂ = (x − mean) · inverse_deviation, with one row per step, or per step and image (layer norm);
/// and with the norm's parameters folded in, y = scale · x + shift. The neurons' own factor of
/// their input, if they have one, is part of scale and shift.
struct NormTrace {
  int64_t rows_per_step = 1;        ///< 1, or the batch size
  Buffer<float> mean;               ///< [step, row, channel]
  Buffer<float> inverse_deviation;  ///< [step, row, channel]
  Buffer<float> scale;              ///< [step, row, channel]
  Buffer<float> shift;              ///< [step, row, channel]
};

}  // namespace bntt
