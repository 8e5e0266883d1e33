#include <fmt/ranges.h>

#include <algorithm>

#include "base/fail.h"
#include "bntt/declaration.h"
#include "bntt/parameter.h"

namespace bntt {
namespace {

struct WeightAxes {
  int64_t taps;
  int64_t inputs;
  int64_t outputs;

  int64_t in_memory(int64_t tap, int64_t in, int64_t out) const {
    return (tap * inputs + in) * outputs + out;
  }
  int64_t in_pytorch(int64_t tap, int64_t in, int64_t out) const {
    return (out * inputs + in) * taps + tap;
  }
};

void expect_values(const Parameter& parameter, const Buffer<float>& values) {
  const std::vector<int64_t>& shape = parameter.pytorch_shape;
  const bool positive = std::ranges::all_of(shape, [](int64_t extent) { return extent > 0; });
  const bool weights = parameter.input_channels != 0;
  // Outputs and inputs are the first two axes; in a fully connected layer the second includes the
  // pixels.
  const bool axes = !weights || (shape.size() >= 2 && parameter.input_channels > 0 &&
                                 shape[1] % parameter.input_channels == 0);
  if (!positive || !axes || values.size() != size_of(shape)) {
    fail("{}: {} values for {} input channels and the shape [{}]", parameter.name, values.size(),
         parameter.input_channels, fmt::join(shape, ", "));
  }
}

/// Calls visit(index in memory, index in PyTorch's order) for every weight.
template <typename Visit>
void for_each_weight(const Parameter& parameter, int64_t size, const Visit& visit) {
  const int64_t outputs = parameter.pytorch_shape[0];
  const int64_t inputs = parameter.input_channels;
  const WeightAxes axes{size / (outputs * inputs), inputs, outputs};
  for (int64_t tap = 0; tap < axes.taps; ++tap) {
    for (int64_t in = 0; in < inputs; ++in) {
      for (int64_t out = 0; out < outputs; ++out) {
        visit(axes.in_memory(tap, in, out), axes.in_pytorch(tap, in, out));
      }
    }
  }
}

}  // namespace

Buffer<float> to_pytorch_order(const Parameter& parameter, const Buffer<float>& values) {
  expect_values(parameter, values);
  if (parameter.input_channels == 0) return values;
  Buffer<float> result(values.size());
  for_each_weight(parameter, values.size(),
                  [&](int64_t memory, int64_t pytorch) { result[pytorch] = values[memory]; });
  return result;
}

Buffer<float> from_pytorch_order(const Parameter& parameter, const Buffer<float>& values) {
  expect_values(parameter, values);
  if (parameter.input_channels == 0) return values;
  Buffer<float> result(values.size());
  for_each_weight(parameter, values.size(),
                  [&](int64_t memory, int64_t pytorch) { result[memory] = values[pytorch]; });
  return result;
}

}  // namespace bntt
