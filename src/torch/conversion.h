#pragma once

#include <torch/types.h>

#include "bntt/network.h"

namespace bntt {

/// Our channel-last signal as [stored step, batch, channel, y, x]; a constant train has one stored
/// step.
torch::Tensor to_tensor(const Signal& signal, torch::Dtype dtype);

/// Our channel-last values [step, batch, y, x, channel] as [step, batch, channel, y, x].
torch::Tensor to_tensor(const Buffer<float>& values, int64_t batch, const MapShape& shape,
                        torch::Dtype dtype);

/// Values, or gradient, of a parameter or statistic in PyTorch's shape and axis order.
torch::Tensor to_tensor(const Parameter& parameter, const Buffer<float>& values,
                        torch::Dtype dtype);
torch::Tensor to_tensor(const Statistic& statistic, const Buffer<float>& values,
                        torch::Dtype dtype);

}  // namespace bntt
