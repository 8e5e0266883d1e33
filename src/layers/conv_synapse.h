#pragma once

#include <optional>
#include <vector>

#include "layers/conv_direct.h"
#include "layers/conv_patterns.h"
#include "layers/conv_walk.h"
#include "layers/conv_winograd.h"
#include "layers/synapse.h"

namespace bntt {

/// 3x3 convolution, padding 1, no bias. Spikes are looked up where a pixel has but a few bits, and
/// walked bit by bit while they are few; denser spikes, real-valued input and the input gradient,
/// which the norm's backward fills, go through Winograd's algorithm, or the direct one where
/// channels are few.
class ConvSynapse final : public Synapse {
 public:
  explicit ConvSynapse(const StagePlan& plan);

  std::unique_ptr<PreparedWeights> prepare(const float* weights) const override;
  void forward(const Signal& input, const PreparedWeights& weights, float* current,
               const FramesWritten& written) const override;
  bool makes_rows(const Signal& input) const override;
  void forward_by_rows(const Signal& input, const PreparedWeights& weights,
                       const RowMade& made) const override;
  void weight_gradient(const Signal& input, const float* current_gradient,
                       float* weight_gradient) const override;
  void input_gradient(const float* current_gradient, const float* weights, int64_t frames,
                      float* input_gradient) const override;
  void set_break_even(const BreakEven& break_even) override { break_even_ = break_even; }

 private:
  class Weights;
  void forward_spikes(const Signal& input, const Weights& weights, float* current,
                      const FramesWritten& written) const;
  Buffer<float> forward_dense_frames(const Signal& input, const std::vector<bool>& dense,
                                     const Weights& weights) const;
  void forward_dense(const Signal& input, const Weights& weights, float* current,
                     const FramesWritten& written) const;

  /// Frames that are above the break-even.
  std::vector<bool> dense_frames(const SpikeTrain& spikes) const;
  std::unique_ptr<FrameRows> rows(const SpikeTrain& spikes, int64_t first, int64_t count,
                                  const Weights& weights) const;

  MapShape output_;
  kernels::PooledMap map_;
  BreakEven break_even_;
  ConvWalk walk_;
  ConvPatterns patterns_;
  std::optional<ConvWinograd> winograd_;  // where it suits the shape
  std::optional<ConvDirect> direct_;      // elsewhere
};

}  // namespace bntt
