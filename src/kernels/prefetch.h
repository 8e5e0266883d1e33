#pragma once

#include <hwy/cache_control.h>

#include <cstdint>

namespace bntt::kernels {

/// Prefetches memory that the next step will read. Within a step a vector of channels strides over
/// the pixels, a pattern that the hardware prefetcher does not follow.
template <typename Number>
inline void prefetch_row(const Number* row, int64_t count) {
  constexpr int64_t kLine = 64 / sizeof(Number);
  for (int64_t i = 0; i < count; i += kLine) hwy::Prefetch(row + i);
}

}  // namespace bntt::kernels
