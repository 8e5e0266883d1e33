#pragma once

#include "kernels/unpack.h"
#include "layers/synapse.h"

namespace bntt {

/// Fully connected, no bias. Inputs are the pooled map flattened as [y, x, channel].
class DenseSynapse final : public Synapse {
 public:
  explicit DenseSynapse(const StagePlan& plan);

  void forward(const Signal& input, const float* weights, float* current) const override;
  void weight_gradient(const Signal& input, const float* current_gradient,
                       float* weight_gradient) const override;
  void input_gradient(const float* current_gradient, const float* weights, int64_t frames,
                      float* input_gradient) const override;

 private:
  kernels::PooledMap map_;
  int64_t inputs_;
  int64_t outputs_;
};

}  // namespace bntt
