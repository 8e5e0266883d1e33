#pragma once

#include "kernels/bf16_products.h"

namespace bntt::kernels {

inline constexpr int64_t kAvx512PairColumns = 32;

/// Uses VDPBF16PS.
void avx512_multiply_pairs(const PairProduct& product);

}  // namespace bntt::kernels
