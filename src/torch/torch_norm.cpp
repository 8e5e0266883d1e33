#include "torch/torch_norm.h"

#include <torch/torch.h>

#include "base/fail.h"

namespace bntt {
namespace {

torch::Tensor per_channel(const torch::Tensor& row) { return row.view({1, -1, 1, 1}); }

}  // namespace

TorchNormImpl::Group TorchNormImpl::group_of(const std::string& kind) {
  if (kind == "none") return Group::none;
  if (kind == "bntt" || kind == "bn") return Group::each_step;
  if (kind == "bn-time" || kind == "tdbn" || kind == "tebn") return Group::all_steps;
  if (kind == "layer") return Group::each_image;
  fail("the LibTorch oracle has no norm '{}': write it in src/torch/torch_norm.cpp", kind);
}

TorchNormImpl::TorchNormImpl(const NormSpec& spec, const TorchNormPlace& place, torch::Dtype dtype)
    : spec_(spec), place_(place), group_(group_of(spec.kind)) {
  if (group_ == Group::none) return;
  const std::vector<int64_t> rows = every_step_has_its_own()
                                        ? std::vector<int64_t>{place.steps, place.channels}
                                        : std::vector<int64_t>{place.channels};
  const auto start = static_cast<double>(spec.gain_start);
  gain = register_parameter("weight", torch::full(rows, start, dtype));
  if (spec.shift) shift = register_parameter("bias", torch::zeros(rows, dtype));
  if (spec.kind == "tebn") {
    step_scale = register_parameter("step_scale", torch::ones({place.steps}, dtype));
  }
  if (group_ == Group::each_image) return;
  running_mean = register_buffer("running_mean", torch::zeros(rows, dtype));
  running_variance = register_buffer("running_var", torch::ones(rows, dtype));
}

/// y = γ x̂ + β; tdBN: y = γ αθ x̂ + β; TEBN: y_t = p_t (γ x̂_t + β).
torch::Tensor TorchNormImpl::forward(const torch::Tensor& current, int64_t first_step,
                                     NormMode mode) {
  if (group_ == Group::none) return current;
  const int64_t steps = current.size(0);
  const auto rows_of_steps = [&](const torch::Tensor& rows) {
    const torch::Tensor own =
        every_step_has_its_own() ? rows.slice(0, first_step, first_step + steps) : rows;
    return own.reshape({-1, 1, place_.channels, 1, 1});
  };
  torch::Tensor result = unit(current, first_step, mode);
  if (spec_.kind == "tdbn") {
    const double alpha = spec_.alpha > 0.0F ? static_cast<double>(spec_.alpha)
                                            : 1.0 / std::sqrt(static_cast<double>(place_.branches));
    result = alpha * place_.threshold * result;
  }
  result = rows_of_steps(gain) * result;
  if (shift.defined()) result = result + rows_of_steps(shift);
  if (spec_.kind == "tebn") {
    const torch::Tensor of_steps = step_scale.slice(0, first_step, first_step + steps);
    result = of_steps.view({-1, 1, 1, 1, 1}) * result;
  }
  return result;
}

torch::Tensor TorchNormImpl::unit(const torch::Tensor& current, int64_t first_step, NormMode mode) {
  if (group_ == Group::all_steps) {
    const torch::Tensor merged = current.flatten(0, 1);  // steps are treated as a larger batch
    return unit_of_channels(merged, first_step, mode).view_as(current);
  }
  std::vector<torch::Tensor> steps;
  for (int64_t i = 0; i < current.size(0); ++i) {
    steps.push_back(group_ == Group::each_image
                        ? unit_of_images(current[i])
                        : unit_of_channels(current[i], first_step + i, mode));
  }
  return torch::stack(steps);
}

torch::Tensor TorchNormImpl::unit_of_images(const torch::Tensor& current) const {
  const torch::Tensor mean = current.mean({1, 2, 3}, /*keepdim=*/true);
  const torch::Tensor variance = (current - mean).square().mean({1, 2, 3}, /*keepdim=*/true);
  return (current - mean) / torch::sqrt(variance + static_cast<double>(spec_.epsilon));
}

/// Batch statistics: biased variance for x̂, unbiased for the moving average.
torch::Tensor TorchNormImpl::unit_of_channels(const torch::Tensor& current, int64_t step,
                                              NormMode mode) {
  torch::Tensor kept_mean = every_step_has_its_own() ? running_mean[step] : running_mean;
  torch::Tensor kept_variance =
      every_step_has_its_own() ? running_variance[step] : running_variance;
  torch::Tensor mean = kept_mean.clone();
  torch::Tensor variance = kept_variance.clone();
  if (mode == NormMode::batch) {
    mean = current.mean({0, 2, 3});
    variance = (current - per_channel(mean)).square().mean({0, 2, 3});
    const auto count = static_cast<double>(current.numel() / current.size(1));
    const auto newest = static_cast<double>(spec_.momentum);
    const torch::NoGradGuard observed_only;
    kept_mean.mul_(1.0 - newest).add_(mean, newest);
    kept_variance.mul_(1.0 - newest).add_(variance, newest * count / (count - 1.0));
  }
  return (current - per_channel(mean)) /
         torch::sqrt(per_channel(variance) + static_cast<double>(spec_.epsilon));
}

}  // namespace bntt
