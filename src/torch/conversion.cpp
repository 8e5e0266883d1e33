#include "torch/conversion.h"

#include <torch/torch.h>

#include "base/check.h"

namespace bntt {
namespace {

torch::Tensor copy_floats(const Buffer<float>& values, at::IntArrayRef shape) {
  const torch::Tensor tensor = torch::empty(shape, torch::kFloat32);
  BNTT_CHECK(tensor.numel() == values.size());
  std::copy(values.begin(), values.end(), tensor.data_ptr<float>());
  return tensor;
}

torch::Tensor channels_first(const torch::Tensor& channels_last, torch::Dtype dtype) {
  return channels_last.permute({0, 1, 4, 2, 3}).to(dtype).contiguous();
}

torch::Tensor spikes_to_tensor(const SpikeTrain& spikes, torch::Dtype dtype) {
  const MapShape& shape = spikes.shape();
  const torch::Tensor tensor = torch::empty(
      {spikes.steps(), spikes.batch(), shape.channels, shape.height, shape.width}, torch::kFloat32);
  float* value = tensor.data_ptr<float>();
  for (int64_t step = 0; step < spikes.steps(); ++step)
    for (int64_t image = 0; image < spikes.batch(); ++image)
      for (int64_t channel = 0; channel < shape.channels; ++channel)
        for (int64_t y = 0; y < shape.height; ++y)
          for (int64_t x = 0; x < shape.width; ++x)
            *value++ = spikes.value(step, image, y, x, channel);
  return tensor.to(dtype);
}

}  // namespace

torch::Tensor to_tensor(const Signal& signal, torch::Dtype dtype) {
  if (const auto* spikes = std::get_if<SpikeTrain>(&signal))
    return spikes_to_tensor(*spikes, dtype);
  const auto& dense = std::get<DenseTrain>(signal);
  return to_tensor(dense.values, dense.batch, dense.shape, dtype);
}

torch::Tensor to_tensor(const Buffer<float>& values, int64_t batch, const MapShape& shape,
                        torch::Dtype dtype) {
  const int64_t steps = values.size() / (batch * shape.size());
  return channels_first(
      copy_floats(values, {steps, batch, shape.height, shape.width, shape.channels}), dtype);
}

torch::Tensor to_tensor(const Parameter& parameter, const Buffer<float>& values,
                        torch::Dtype dtype) {
  return copy_floats(to_pytorch_order(parameter, values), parameter.pytorch_shape).to(dtype);
}

torch::Tensor to_tensor(const Statistic& statistic, const Buffer<float>& values,
                        torch::Dtype dtype) {
  return copy_floats(values, statistic.pytorch_shape).to(dtype);
}

}  // namespace bntt
