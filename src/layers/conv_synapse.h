#pragma once

#include <optional>

#include "layers/conv_direct.h"
#include "layers/conv_walk.h"
#include "layers/conv_winograd.h"
#include "layers/synapse.h"

namespace bntt {

/// 3x3 convolution, padding 1, no bias. Spikes are walked bit by bit while they are few; denser
/// spikes, real-valued input and the input gradient, which the norm's backward fills, go through
/// Winograd's algorithm, or the direct one where channels are few.
class ConvSynapse final : public Synapse {
 public:
  explicit ConvSynapse(const StagePlan& plan);

  std::unique_ptr<PreparedWeights> prepare(const float* weights) const override;
  void forward(const Signal& input, const PreparedWeights& weights, float* current,
               const FramesWritten& written) const override;
  void weight_gradient(const Signal& input, const float* current_gradient,
                       float* weight_gradient) const override;
  void input_gradient(const float* current_gradient, const float* weights, int64_t frames,
                      float* input_gradient) const override;
  void set_break_even(const BreakEven& break_even) override { break_even_ = break_even; }

 private:
  class Weights;
  void forward_spikes(const Signal& input, const Weights& weights, float* current,
                      const FramesWritten& written) const;
  void forward_dense(const Signal& input, const Weights& weights, float* current,
                     const FramesWritten& written) const;

  kernels::PooledMap map_;
  BreakEven break_even_;
  ConvWalk walk_;
  std::optional<ConvWinograd> winograd_;  // where it suits the shape
  std::optional<ConvDirect> direct_;      // elsewhere
};

}  // namespace bntt
