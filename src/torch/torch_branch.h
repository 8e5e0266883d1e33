#pragma once

#include <torch/nn/module.h>

#include <string>
#include <vector>

#include "torch/torch_norm.h"

namespace bntt {

struct TorchPool {
  PoolKind kind = PoolKind::average;
  int64_t height = 1;  ///< of a window
  int64_t width = 1;
};

/// source → pool → synapse → norm of a BranchSpec.
class TorchBranchImpl : public torch::nn::Module {
 public:
  /// `pools` are applied between source and synapse.
  TorchBranchImpl(const SynapseSpec& synapse, const std::vector<PoolSpec>& pools,
                  const MapShape& source, torch::Dtype dtype);
  /// Adds the norm, for the number of channels that the synapse outputs.
  void add_norm(const NormSpec& spec, TorchNormPlace place, torch::Dtype dtype);

  /// Pools, then weights, without the bias: maps frames [frame, channel, y, x] to their currents.
  torch::Tensor current(torch::Tensor frames) const;
  /// Bias, then norm: [step, batch, channel, y, x], for the run's steps from `first_step` on.
  torch::Tensor normalise(const torch::Tensor& currents, int64_t first_step, NormMode mode);

  const MapShape& output() const { return output_; }

  torch::Tensor weight;  ///< [out, in, kernel, kernel] or [out, in]; undefined for identity
  torch::Tensor bias;    ///< [out]; undefined if the spec has none
  TorchNorm norm = nullptr;

 private:
  SynapseSpec synapse_;
  std::vector<TorchPool> pools_;
  MapShape output_;
};
TORCH_MODULE(TorchBranch);

}  // namespace bntt
