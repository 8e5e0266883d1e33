#pragma once

#include <torch/nn/module.h>

#include "bntt/network.h"

namespace bntt {

struct TorchNormPlace {
  int64_t steps = 1;
  int64_t channels = 1;
  double threshold = 1.0;  ///< of the stage's neurons
  int64_t branches = 1;    ///< of the stage
};

/// The norms of a NormSpec, written from their definitions. Throws Error for a kind that is not
/// implemented here.
class TorchNormImpl : public torch::nn::Module {
 public:
  TorchNormImpl(const NormSpec& spec, const TorchNormPlace& place, torch::Dtype dtype);

  /// `current`: [step, batch, channel, y, x], for the run's steps from `first_step` on.
  torch::Tensor forward(const torch::Tensor& current, int64_t first_step, NormMode mode);

  bool keeps_statistics() const { return running_mean.defined(); }

  torch::Tensor gain;              ///< γ: [step, channel] for BNTT, [channel] for the others
  torch::Tensor shift;             ///< β: like γ; undefined if the spec has none
  torch::Tensor step_scale;        ///< p of TEBN: [step]
  torch::Tensor running_mean;      ///< [step, channel] for BNTT, [channel] for the others
  torch::Tensor running_variance;  ///< like running_mean

 private:
  /// Which samples share a mean and a deviation.
  enum class Group { none, each_step, all_steps, each_image };
  static Group group_of(const std::string& kind);
  bool every_step_has_its_own() const { return spec_.kind == "bntt"; }

  torch::Tensor unit(const torch::Tensor& current, int64_t first_step, NormMode mode);
  torch::Tensor unit_of_images(const torch::Tensor& current) const;
  torch::Tensor unit_of_channels(const torch::Tensor& current, int64_t step, NormMode mode);

  NormSpec spec_;
  TorchNormPlace place_;
  Group group_;
};
TORCH_MODULE(TorchNorm);

}  // namespace bntt
