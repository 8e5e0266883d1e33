#pragma once

#include <cstdint>

#include "bntt/signal.h"
#include "kernels/bfloat16.h"
#include "kernels/dynamics.h"
#include "kernels/gradient_view.h"
#include "kernels/unpack.h"

namespace bntt::kernels {

/// The neurons of a stage over a window of steps.
struct NeuronShape {
  int64_t steps = 0;
  int64_t batch = 0;
  int64_t pixels = 0;
  int64_t channels = 0;

  int64_t frame() const { return pixels * channels; }
  int64_t words_per_pixel() const { return (channels + kSpikesPerWord - 1) / kSpikesPerWord; }
};

/// y = scale · x + shift (see add_affine) and x̂ = (x − mean) · inverse_deviation, with
/// coefficients for each row of channels.
struct Affine {
  const float* scale = nullptr;              // [step, row, channel]
  const float* shift = nullptr;              // [step, row, channel]
  const float* mean = nullptr;               // [step, row, channel]; null if no gradient is needed
  const float* inverse_deviation = nullptr;  // [step, row, channel]
  int64_t rows_per_step = 1;                 // 1, or one per image

  int64_t row(int64_t step, int64_t image) const {
    return step * rows_per_step + (rows_per_step > 1 ? image : 0);
  }
};

/// The currents of the window. A constant current (direct encoding) is stored once, with stride 0.
struct Currents {
  const float* data = nullptr;  // [step, batch, y, x, channel]
  int64_t step_stride = 0;
  const BFloat16* halves = nullptr;  // instead of `data`, in mixed precision
  int64_t first = 0;
  /// [step]: where the currents of each step lie, in strides; null: one step after the other. Steps
  /// whose scale and shift are 0 may share those of another one.
  const int64_t* stored_steps = nullptr;

  int64_t at_step(int64_t step) const {
    return (stored_steps == nullptr ? step : stored_steps[step]) * step_stride;
  }
  Currents from(int64_t offset) const { return {data, step_stride, halves, first + offset}; }
  float at(int64_t i) const {
    return halves == nullptr ? data[first + i] : widened(halves[first + i]);
  }
};

/// Some pixels of one image: a unit of work over all steps, small enough to stay in cache.
struct PixelBlock {
  static constexpr int64_t kMaxPixels = 1024;
  int64_t image = 0;
  int64_t begin = 0;
  int64_t end = 0;
};

/// Some neighbouring pixels of one image at one step, and some of their channels: a whole map, or
/// the part of a row that a synapse has just computed.
struct NeuronRow {
  int64_t pixels = 0;
  int64_t channels = 0;
  const float* scale = nullptr;  // [channel]
  const float* shift = nullptr;  // [channel]
  Currents currents;             // [pixel, channel], pixels are `current_stride` floats apart
  int64_t current_stride = 0;
  float* carry = nullptr;  // [pixel, channel]
  int64_t carry_stride = 0;
  uint8_t* spikes = nullptr;  // the byte of the first channel, whose index is a multiple of eight
  int64_t spike_stride = 0;   // bytes from pixel to pixel
};

/// One step: reads and writes the carry, and sets the bits of these channels. Bytes without any of
/// these channels are not changed.
using SpikingStep = void(const Dynamics& dynamics, const NeuronRow& row);

struct KernelSet;
/// All steps of a block. Reads and writes `carry` [batch, y, x, channel]; sets the spikes [step,
/// batch, y, x, word], which must be zero before the call.
void spiking_forward(const KernelSet& set, const NeuronShape& shape, const Dynamics& dynamics,
                     const Affine& affine, const Currents& currents, const PixelBlock& block,
                     float* carry, SpikeWord* spikes);

/// The gradient with respect to the input of the next stage: the spikes after its pool.
struct SpikeGradient {
  GradientView values;  // [step, batch, pooled y, pooled x, channel]
  PooledMap pool;

  /// Index of a pixel's gradient in its pooled frame, in pixels; -1 if pooling dropped the pixel.
  int64_t pooled_pixel(int64_t pixel) const {
    const MapShape pooled = pool.pooled();
    const int64_t y = pixel / pool.source.width / pool.pool_height;
    const int64_t x = pixel % pool.source.width / pool.pool_width;
    return y < pooled.height && x < pooled.width ? y * pooled.width + x : -1;
  }
};

/// Sums over the samples of one row, for the norm's backward pass: [step, channel] each. A block
/// adds its own sum once.
struct GradientSums {
  float* gradient = nullptr;             // Σ ∂L/∂y
  float* gradient_times_unit = nullptr;  // Σ ∂L/∂y · x̂
};

/// Recomputes the membrane from the currents (the window starts from rest; the arithmetic is that
/// of the forward pass, so the spikes are the same), then runs back through time: writes ∂L/∂y
/// [step, batch, y, x, channel] and adds it, as it is stored, to the sums. The gradient that is
/// carried from step to step stays in fp32. `scratch` holds backward_scratch() floats. Without a
/// pool, `norm_gradient` may alias the arriving gradient.
using SpikingBackward = void(const NeuronShape& shape, const Dynamics& dynamics,
                             const Affine& affine, const Currents& currents,
                             const SpikeGradient& arriving, const PixelBlock& block, float* scratch,
                             GradientPlace norm_gradient, const GradientSums& sums);

/// Space for the membranes of every step of a block, their traces if the surrogate has them, and
/// the gradient carried from step to step.
inline int64_t backward_scratch(const NeuronShape& shape, const Dynamics& dynamics,
                                int64_t block_pixels) {
  const int64_t per_step = dynamics.surrogate.kind == SurrogateKind::stdb ? 2 : 1;
  return (per_step * shape.steps + 1) * block_pixels * shape.channels;
}

/// o = max(0, y), for ANNs.
void relu_forward(const NeuronShape& shape, const Affine& affine, const Currents& currents,
                  const PixelBlock& block, float* activations);
void relu_backward(const NeuronShape& shape, const Affine& affine, const Currents& currents,
                   const SpikeGradient& arriving, const PixelBlock& block, float* norm_gradient,
                   const GradientSums& sums);

/// ∂L/∂x = scale · ∂L/∂y − slope · x̂ − offset, row by row like Affine.
struct NormGradientRows {
  const float* scale = nullptr;   // [step, row, channel]
  const float* slope = nullptr;   // [step, row, channel]
  const float* offset = nullptr;  // [step, row, channel]
};

/// Turns ∂L/∂y into ∂L/∂x in place. For a constant current, the sum of ∂L/∂x over the steps is
/// added to `step_sum` [batch, y, x, channel] instead.
using NormBackward = void(const NeuronShape& shape, const Affine& affine,
                          const NormGradientRows& rows, const Currents& currents,
                          const PixelBlock& block, GradientPlace gradient, float* step_sum);

/// Some neighbouring pixels of one image at one step. The normalised current of a branch is added
/// there to that of the branches before it.
struct NormalisedRow {
  int64_t pixels = 0;
  int64_t channels = 0;
  const float* scale = nullptr;  // [channel]
  const float* shift = nullptr;  // [channel]
  Currents currents;             // [pixel, channel], pixels are `current_stride` floats apart
  int64_t current_stride = 0;
  bool accumulate = false;  // otherwise `out` is overwritten
  float* out = nullptr;     // [pixel, channel]
  int64_t out_stride = 0;
};

/// out = add_affine(out or 0, x, scale, shift).
using AddNormalised = void(const NormalisedRow& row);

/// Adds Σ ∂L/∂y and Σ ∂L/∂y · x̂ of a block to the sums, as SpikingBackward does. Used for stages
/// with several branches.
using AddGradientSums = void(const NeuronShape& shape, const Affine& affine,
                             const Currents& currents, GradientView gradient,
                             const PixelBlock& block, const GradientSums& sums);

}  // namespace bntt::kernels
