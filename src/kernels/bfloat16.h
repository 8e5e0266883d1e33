#pragma once

#include <bit>
#include <cstdint>

namespace bntt::kernels {

/// The upper half of a float: 8 bits of exponent, 7 of mantissa.
using BFloat16 = uint16_t;

/// Rounds to nearest, ties to even; NaN stays NaN.
inline BFloat16 rounded_to_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return static_cast<BFloat16>((nan ? bits | 0x10000U : bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

/// Rounds values in place as above, and stores their upper halves.
void round_to_bfloat16(float* values, int64_t count, BFloat16* halves);

inline float widened(BFloat16 half) {
  return std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
}

}  // namespace bntt::kernels
