#pragma once

#include <cstdint>

namespace bntt::kernels {

/// Mean and sum of squared deviations of each channel over `samples` rows of [sample, channel], in two passes:
/// never E[x²] − μ², which cancels in fp32.
void channel_moments(const float* values, int64_t samples, int64_t channels, float* mean,
                     float* squared_deviations);

}  // namespace bntt::kernels
