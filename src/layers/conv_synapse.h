#pragma once

#include "kernels/dense_convolution.h"
#include "kernels/spike_convolution.h"
#include "layers/synapse.h"

namespace bntt {

/// 3x3 convolution, padding 1, no bias. Spikes are walked bit by bit, in forward and for the weight
/// gradient; real-valued input and the input gradient, which the norm's backward fills, go through
/// the dense kernels.
class ConvSynapse final : public Synapse {
 public:
  explicit ConvSynapse(const StagePlan& plan);

  void forward(const Signal& input, const float* weights, float* current) const override;
  void weight_gradient(const Signal& input, const float* current_gradient,
                       float* weight_gradient) const override;
  void input_gradient(const float* current_gradient, const float* weights, int64_t frames,
                      float* input_gradient) const override;

 private:
  void forward_spikes(const SpikeTrain& input, const float* weights, float* current) const;
  void forward_dense(const Signal& input, const float* weights, float* current) const;
  void weight_gradient_spikes(const SpikeTrain& input, const float* current_gradient,
                              float* weight_gradient) const;
  void weight_gradient_dense(const Signal& input, const float* current_gradient,
                             float* weight_gradient) const;

  MapShape input_;
  MapShape output_;
  kernels::SpikeConvolution spikes_;
  kernels::DenseConvolution dense_;
};

}  // namespace bntt
