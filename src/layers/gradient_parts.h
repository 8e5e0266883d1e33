#pragma once

#include <algorithm>
#include <bit>

#include "bntt/buffer.h"

namespace bntt {

/// Weight gradients are summed in a number of parts that depends on the shape alone, so that sums
/// do not depend on threads; each part costs `size` floats. A power of two, which two or four
/// threads share evenly.
inline int64_t gradient_parts(int64_t chunks, int64_t size) {
  constexpr int64_t kPartFloats = 16 << 20;
  const auto parts = static_cast<uint64_t>(std::clamp<int64_t>(kPartFloats / size, 4, 32));
  return std::min(chunks, static_cast<int64_t>(std::bit_floor(parts)));
}

/// Sums parts [part, size] into the first, in order.
inline void add_parts(Buffer<float>& sums, int64_t parts, int64_t size) {
  for (int64_t part = 1; part < parts; ++part) {
    for (int64_t k = 0; k < size; ++k) sums[k] += sums[part * size + k];
  }
}

}  // namespace bntt
