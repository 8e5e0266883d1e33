#pragma once

#include "kernels/dense_convolution.h"
#include "kernels/unpack.h"
#include "layers/synapse.h"

namespace bntt {

/// 3x3 convolution, padding 1, no bias. Spikes are unpacked chunk by chunk, in cache, for the dense kernels.
class ConvSynapse final : public Synapse {
 public:
  explicit ConvSynapse(const StagePlan& plan);

  void forward(const Signal& input, const float* weights, float* current) const override;
  void weight_gradient(const Signal& input, const float* current_gradient,
                       float* weight_gradient) const override;
  void input_gradient(const float* current_gradient, const float* weights, int64_t frames,
                      float* input_gradient) const override;

 private:
  kernels::PooledMap map_;
  MapShape input_;
  MapShape output_;
  kernels::DenseConvolution convolution_;
};

}  // namespace bntt
