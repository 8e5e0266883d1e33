#pragma once

#include <cstdint>

#include "bntt/buffer.h"

namespace bntt {

/// The source of a norm's statistics.
enum class NormMode {
  batch,    ///< the current batch, as in training; it updates the running statistics
  running,  ///< the running statistics: evaluation
};

/// x̂ = (x − mean) · inverse_deviation, with one row per step, or per step and image (layer norm);
/// and with the norm's parameters folded in, y = scale · x + shift. If the neurons multiply their
/// input by a factor, scale and shift include it.
struct NormTrace {
  int64_t rows_per_step = 1;        ///< 1, or the batch size
  Buffer<float> mean;               ///< [step, row, channel]
  Buffer<float> inverse_deviation;  ///< [step, row, channel]
  Buffer<float> scale;              ///< [step, row, channel]
  Buffer<float> shift;              ///< [step, row, channel]
};

}  // namespace bntt
