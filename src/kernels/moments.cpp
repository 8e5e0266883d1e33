#include "kernels/moments.h"

#include <algorithm>
#include <array>

namespace bntt::kernels {

void channel_moments(const float* values, int64_t samples, int64_t channels, float* mean,
                     float* squared_deviations) {
  constexpr int64_t kBlock = 64;
  std::array<double, kBlock> sum{};
  for (int64_t first = 0; first < channels; first += kBlock) {
    const int64_t count = std::min(kBlock, channels - first);
    sum.fill(0.0);
    for (int64_t s = 0; s < samples; ++s) {
      const float* row = values + s * channels + first;
      for (int64_t c = 0; c < count; ++c) sum[c] += row[c];
    }
    for (int64_t c = 0; c < count; ++c) {
      mean[first + c] = static_cast<float>(sum[c] / static_cast<double>(samples));
    }
    sum.fill(0.0);
    for (int64_t s = 0; s < samples; ++s) {
      const float* row = values + s * channels + first;
      for (int64_t c = 0; c < count; ++c) {
        const double deviation = static_cast<double>(row[c]) - mean[first + c];
        sum[c] += deviation * deviation;
      }
    }
    for (int64_t c = 0; c < count; ++c) {
      squared_deviations[first + c] = static_cast<float>(sum[c]);
    }
  }
}

}  // namespace bntt::kernels
