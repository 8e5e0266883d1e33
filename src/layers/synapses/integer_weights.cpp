#include "layers/synapses/integer_weights.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "kernels/integer_kernels.h"

namespace bntt {

int8_t nearest_integer(float weight, float scale) {
  constexpr auto kLargest = static_cast<float>(kernels::kLargestInteger);
  return static_cast<int8_t>(std::clamp(std::nearbyint(weight / scale), -kLargest, kLargest));
}

Buffer<int8_t> integer_weights(std::span<const float> weights, std::span<const float> scales) {
  Buffer<int8_t> integers(std::ssize(weights));
  const std::size_t channels = scales.size();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float scale = scales[i % channels];
    const int8_t integer = nearest_integer(weights[i], scale);
    if (scale * static_cast<float>(integer) != weights[i]) {
      fail("weights: {} of output channel {} is not {} times an integer from -127 to 127",
           weights[i], i % channels, scale);
    }
    integers[static_cast<int64_t>(i)] = integer;
  }
  return integers;
}

}  // namespace bntt
