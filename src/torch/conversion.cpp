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

MapShape map_shape(const torch::Tensor& frames) {
  BNTT_CHECK(frames.dim() == 5);
  return {.channels = frames.size(2), .height = frames.size(3), .width = frames.size(4)};
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

DenseTrain to_dense_train(const torch::Tensor& values) {
  DenseTrain train{.steps = values.size(0),
                   .batch = values.size(1),
                   .shape = map_shape(values),
                   .values = Buffer<float>(values.numel())};
  const torch::Tensor channels_last =
      values.detach().to(torch::kFloat32).permute({0, 1, 3, 4, 2}).contiguous();
  std::copy_n(channels_last.data_ptr<float>(), train.values.size(), train.values.data());
  return train;
}

SpikeTrain to_spike_train(const torch::Tensor& spikes) {
  SpikeTrain train(spikes.size(0), spikes.size(1), map_shape(spikes));
  const torch::Tensor places = spikes.nonzero();  // rows of (step, image, channel, y, x)
  const auto place = places.accessor<int64_t, 2>();
  for (int64_t i = 0; i < places.size(0); ++i) {
    train.set(0, place[i][0], place[i][1], place[i][3], place[i][4], place[i][2]);
  }
  return train;
}

}  // namespace bntt
