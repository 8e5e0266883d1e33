#include "torch/torch_norm.h"

#include <torch/torch.h>

#include "base/check.h"

namespace bntt {
namespace {

torch::Tensor per_channel(const torch::Tensor& row) { return row.view({1, -1, 1, 1}); }

}  // namespace

TorchNormImpl::TorchNormImpl(const NormSpec& spec, int64_t steps, int64_t channels,
                             torch::Dtype dtype)
    : spec_(spec) {
  if (spec.kind == "none") return;
  const bool own_steps = spec.kind == "bntt";
  gain = register_parameter(
      "gain", own_steps ? torch::ones({steps, channels}, dtype) : torch::ones({channels}, dtype));
  if (spec.kind == "layer") return;
  const int64_t rows = own_steps ? steps : 1;
  running_mean = register_buffer("running_mean", torch::zeros({rows, channels}, dtype));
  running_variance = register_buffer("running_variance", torch::ones({rows, channels}, dtype));
}

torch::Tensor TorchNormImpl::forward(const torch::Tensor& current, int64_t first_step,
                                     NormMode mode) {
  if (spec_.kind == "none") return current;
  if (spec_.kind == "bn-time") return normalise_all_steps(current, mode);
  std::vector<torch::Tensor> steps;
  for (int64_t i = 0; i < current.size(0); ++i) {
    steps.push_back(spec_.kind == "layer" ? normalise_each_image(current[i])
                                          : normalise_one_step(current[i], first_step + i, mode));
  }
  return torch::stack(steps);
}

torch::Tensor TorchNormImpl::normalise_one_step(const torch::Tensor& current, int64_t step,
                                                NormMode mode) {
  if (spec_.kind == "bntt") return normalise_channels(current, gain[step], step, mode);
  BNTT_CHECK(spec_.kind == "bn");
  return normalise_channels(current, gain, 0, mode);
}

torch::Tensor TorchNormImpl::normalise_all_steps(const torch::Tensor& current, NormMode mode) {
  const torch::Tensor merged = current.flatten(0, 1);  // time is only more batch
  return normalise_channels(merged, gain, 0, mode).view_as(current);
}

torch::Tensor TorchNormImpl::normalise_each_image(const torch::Tensor& current) const {
  const torch::Tensor mean = current.mean({1, 2, 3}, /*keepdim=*/true);
  const torch::Tensor variance = (current - mean).square().mean({1, 2, 3}, /*keepdim=*/true);
  return per_channel(gain) * (current - mean) /
         torch::sqrt(variance + static_cast<double>(spec_.epsilon));
}

/// Batch statistics: biased variance for x̂, unbiased for the moving average.
torch::Tensor TorchNormImpl::normalise_channels(const torch::Tensor& current,
                                                const torch::Tensor& gain_row,
                                                int64_t statistics_row, NormMode mode) {
  torch::Tensor mean = running_mean[statistics_row].clone();
  torch::Tensor variance = running_variance[statistics_row].clone();
  if (mode == NormMode::batch) {
    mean = current.mean({0, 2, 3});
    variance = (current - per_channel(mean)).square().mean({0, 2, 3});
    const auto count = static_cast<double>(current.numel() / current.size(1));
    const auto newest = static_cast<double>(spec_.momentum);
    const torch::NoGradGuard observed_only;
    running_mean[statistics_row].mul_(1.0 - newest).add_(mean, newest);
    running_variance[statistics_row]
        .mul_(1.0 - newest)
        .add_(variance, newest * count / (count - 1.0));
  }
  return per_channel(gain_row) * (current - per_channel(mean)) /
         torch::sqrt(per_channel(variance) + static_cast<double>(spec_.epsilon));
}

}  // namespace bntt
