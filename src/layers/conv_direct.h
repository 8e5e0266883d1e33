#pragma once

#include "bntt/network_spec.h"
#include "bntt/signal.h"
#include "kernels/dense_convolution.h"
#include "kernels/unpack.h"
#include "layers/synapse.h"

namespace bntt {

/// 3x3 convolution of real values by oneDNN's direct algorithm, for maps of few channels.
class ConvDirect {
 public:
  explicit ConvDirect(const StagePlan& plan);

  void forward(const Signal& input, const float* weights, float* current,
               const FramesWritten& written) const;
  void weight_gradient(const Signal& input, const float* current_gradient,
                       float* weight_gradient) const;
  void input_gradient(const float* current_gradient, const float* weights, int64_t frames,
                      float* input_gradient) const;

 private:
  MapShape input_;
  MapShape output_;
  kernels::PooledMap map_;
  kernels::DenseConvolution dense_;
};

}  // namespace bntt
