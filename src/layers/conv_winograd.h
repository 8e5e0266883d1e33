#pragma once

#include <span>

#include "bntt/network_spec.h"
#include "bntt/signal.h"
#include "kernels/unpack.h"
#include "kernels/winograd.h"
#include "layers/frame_place.h"

namespace bntt {

/// 3x3 convolution of real values by Winograd's algorithm: the same time at any density.
class ConvWinograd {
 public:
  explicit ConvWinograd(const StagePlan& plan);

  /// Whether it beats the direct algorithm: with fewer than eight channels the transforms cost
  /// what the products save.
  static bool suits(const StagePlan& plan) {
    return plan.input.channels >= 8 && plan.output.channels >= 8;
  }

  /// Frames that fill a few blocks of tiles: a unit of work.
  int64_t frames_per_chunk() const;

  Buffer<float> pack(const float* weights) const;
  /// The given frames, at most frames_per_chunk() of them, on this thread.
  void forward(const Signal& input, std::span<const int64_t> frames, const float* packed_weights,
               const FramePlace& place) const;
  /// Overwrites the weight gradient [tap, in, out].
  void weight_gradient(const Signal& input, const float* current_gradient,
                       float* weight_gradient) const;
  void input_gradient(const float* current_gradient, const float* weights, int64_t frames,
                      float* input_gradient) const;

 private:
  kernels::PooledMap map_;
  kernels::WinogradConvolution there_;  // from input to output
  kernels::WinogradConvolution back_;   // from output to input
};

}  // namespace bntt
