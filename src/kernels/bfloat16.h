#pragma once

#include <cstdint>

namespace bntt::kernels {

/// The upper half of a float: 8 bits of exponent, 7 of mantissa.
using BFloat16 = uint16_t;

/// Rounds the values in place, to nearest, ties to even, and keeps their upper halves.
void round_to_bfloat16(float* values, int64_t count, BFloat16* halves);

void expand_bfloat16(const BFloat16* halves, int64_t count, float* values);

}  // namespace bntt::kernels
