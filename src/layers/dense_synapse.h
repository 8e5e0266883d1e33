#pragma once

#include "kernels/unpack.h"
#include "layers/synapse.h"

namespace bntt {

/// Fully connected, no bias. Inputs are the pooled map flattened as [y, x, channel]. Spikes select
/// rows to be summed, in forward and for the weight gradient; the rest is matrix products.
class DenseSynapse final : public Synapse {
 public:
  explicit DenseSynapse(const StagePlan& plan);

  std::unique_ptr<PreparedWeights> prepare(const float* weights) const override;
  void forward(const Signal& input, const PreparedWeights& weights, float* current,
               const FramesWritten& written) const override;
  void weight_gradient(const Signal& input, const float* current_gradient,
                       float* weight_gradient) const override;
  void input_gradient(const float* current_gradient, const float* weights, int64_t frames,
                      float* input_gradient) const override;

 private:
  class Weights;
  struct FrameRange {
    int64_t begin;
    int64_t end;
  };
  void forward_spikes(const SpikeTrain& input, const Weights& weights, float* current) const;
  void forward_spikes(const SpikeTrain& input, const FrameRange& range, const Weights& weights,
                      float* current) const;
  void forward_dense(const Signal& input, const float* weights, float* current) const;
  void weight_gradient_spikes(const SpikeTrain& input, const float* current_gradient,
                              float* weight_gradient) const;
  void weight_gradient_dense(const Signal& input, const float* current_gradient,
                             float* weight_gradient) const;

  kernels::PooledMap map_;
  int64_t inputs_;
  int64_t outputs_;
  int64_t block_;  // columns whose sums stay in registers
};

}  // namespace bntt
