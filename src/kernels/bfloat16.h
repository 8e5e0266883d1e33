#pragma once

#include <bit>
#include <cstdint>

namespace bntt::kernels {

/// The upper half of a float: 8 bits of exponent, 7 of mantissa.
using BFloat16 = uint16_t;

/// Rounds the values in place, to nearest, ties to even, and stores their upper halves.
void round_to_bfloat16(float* values, int64_t count, BFloat16* halves);

inline float widened(BFloat16 half) {
  return std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
}

}  // namespace bntt::kernels
