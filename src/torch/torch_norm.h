#pragma once

#include <torch/nn/module.h>

#include "bntt/network.h"

namespace bntt {

/// The norms of a NormSpec, written from their definitions. No β anywhere.
class TorchNormImpl : public torch::nn::Module {
 public:
  TorchNormImpl(const NormSpec& spec, int64_t steps, int64_t channels, torch::Dtype dtype);

  /// `current`: [step, batch, channel, y, x], of the run's steps from `first_step` on.
  torch::Tensor forward(const torch::Tensor& current, int64_t first_step, NormMode mode);

  bool keeps_statistics() const { return running_mean.defined(); }

  torch::Tensor gain;              ///< [step, channel] for BNTT, [channel] for the others
  torch::Tensor running_mean;      ///< [step, channel] for BNTT, [1, channel] for the shared kinds
  torch::Tensor running_variance;  ///< as running_mean

 private:
  torch::Tensor normalise_one_step(const torch::Tensor& current, int64_t step, NormMode mode);
  torch::Tensor normalise_all_steps(const torch::Tensor& current, NormMode mode);
  torch::Tensor normalise_each_image(const torch::Tensor& current) const;
  torch::Tensor normalise_channels(const torch::Tensor& current, const torch::Tensor& gain_row,
                                   int64_t statistics_row, NormMode mode);

  NormSpec spec_;
};
TORCH_MODULE(TorchNorm);

}  // namespace bntt
