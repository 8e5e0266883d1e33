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

/// Calls visit(place in memory, place in PyTorch's order) for every weight.
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
  if (parameter.input_channels == 0) return values;
  Buffer<float> result(values.size());
  for_each_weight(parameter, values.size(),
                  [&](int64_t memory, int64_t pytorch) { result[pytorch] = values[memory]; });
  return result;
}

Buffer<float> from_pytorch_order(const Parameter& parameter, const Buffer<float>& values) {
  if (parameter.input_channels == 0) return values;
  Buffer<float> result(values.size());
  for_each_weight(parameter, values.size(),
                  [&](int64_t memory, int64_t pytorch) { result[memory] = values[pytorch]; });
  return result;
}

}  // namespace bntt
