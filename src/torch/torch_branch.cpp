#include "torch/torch_branch.h"

#include <torch/torch.h>

#include "base/check.h"

namespace bntt {
namespace {

/// Windows do not overlap and begin at the upper left corner; remaining pixels are dropped. The
/// maximum of equal values is the first in row order.
torch::Tensor pooled(const torch::Tensor& frames, const TorchPool& pool) {
  if (pool.kind == PoolKind::max) return torch::max_pool2d(frames, {pool.height, pool.width});
  const torch::Tensor windows =
      frames.unfold(2, pool.height, pool.height).unfold(3, pool.width, pool.width);
  return pool.kind == PoolKind::average ? windows.mean({4, 5}) : windows.sum({4, 5});
}

/// Consecutive max pools become one pool: that decides which of several equal pixels gets the
/// gradient.
void add_pool(const TorchPool& pool, std::vector<TorchPool>& pools) {
  if (pool.kind == PoolKind::max && !pools.empty()) {
    pools.back().height *= pool.height;
    pools.back().width *= pool.width;
  } else {
    pools.push_back(pool);
  }
}

}  // namespace

TorchBranchImpl::TorchBranchImpl(const SynapseSpec& synapse, const std::vector<PoolSpec>& pools,
                                 const MapShape& source, torch::Dtype dtype)
    : synapse_(synapse) {
  MapShape map = source;
  for (const PoolSpec& spec : pools) {
    const bool whole = spec.size == 0;
    const TorchPool pool{spec.kind, whole ? map.height : spec.size, whole ? map.width : spec.size};
    map.height /= pool.height;
    map.width /= pool.width;
    add_pool(pool, pools_);
  }
  switch (synapse.kind) {
    case SynapseKind::conv: {
      const auto extent = [&](int64_t input) {
        return (input + 2 * synapse.padding - synapse.kernel) / synapse.stride + 1;
      };
      output_ = {synapse.outputs, extent(map.height), extent(map.width)};
      weight = torch::zeros({synapse.outputs, map.channels, synapse.kernel, synapse.kernel}, dtype);
      break;
    }
    case SynapseKind::dense:
      output_ = {synapse.outputs, 1, 1};
      weight = torch::zeros({synapse.outputs, map.size()}, dtype);
      break;
    case SynapseKind::identity:
      output_ = map;
      break;
  }
  if (weight.defined()) weight = register_parameter("weight", weight);
  if (synapse.bias) {
    bias = register_parameter("bias", torch::zeros({output_.channels}, dtype));
  }
}

void TorchBranchImpl::add_norm(const NormSpec& spec, TorchNormPlace place, torch::Dtype dtype) {
  place.channels = output_.channels;
  norm = register_module("norm", TorchNorm(spec, place, dtype));
}

torch::Tensor TorchBranchImpl::current(torch::Tensor frames) const {
  for (const TorchPool& pool : pools_) frames = pooled(frames, pool);
  switch (synapse_.kind) {
    case SynapseKind::conv:
      return torch::conv2d(frames, weight, /*bias=*/{}, synapse_.stride, synapse_.padding);
    case SynapseKind::dense:
      return torch::linear(frames.flatten(1), weight).unsqueeze(-1).unsqueeze(-1);
    case SynapseKind::identity:
      return frames;
  }
  BNTT_CHECK(false);
}

torch::Tensor TorchBranchImpl::normalise(const torch::Tensor& currents, int64_t first_step,
                                         NormMode mode) {
  const torch::Tensor whole = bias.defined() ? currents + bias.view({1, 1, -1, 1, 1}) : currents;
  return norm->forward(whole, first_step, mode);
}

}  // namespace bntt
