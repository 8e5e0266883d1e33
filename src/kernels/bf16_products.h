#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace bntt::kernels {

// Matrix products of bf16 with sums in fp32, as the instruction VDPBF16PS computes them. It takes
// values in pairs: two bf16 share the 32 bits of a float, the first in the lower half.

/// Flushes denormals to zero, as the instruction does for its inputs and outputs.
inline float without_denormals(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return (bits & 0x7f800000U) == 0 ? std::bit_cast<float>(bits & 0x80000000U) : value;
}

/// The upper half of the value rounded to nearest, ties to even, as VCVTNEPS2BF16 computes it.
inline uint32_t rounded_half(float value) {
  const auto bits = std::bit_cast<uint32_t>(without_denormals(value));
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return (nan ? bits | 0x400000U : bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
}

inline float rounded_pair(float first, float second) {
  return std::bit_cast<float>(rounded_half(first) | rounded_half(second) << 16);
}

/// sum + a · b of two pairs: the product of the second elements is added first, then that of the
/// first elements, each with one rounding to nearest. (The instruction always rounds to nearest;
/// this function relies on the thread's rounding mode being to nearest.)
inline float add_pair_product(float sum, float a, float b) {
  const auto first = [](float pair) {
    return without_denormals(std::bit_cast<float>(std::bit_cast<uint32_t>(pair) << 16));
  };
  const auto second = [](float pair) {
    return without_denormals(std::bit_cast<float>(std::bit_cast<uint32_t>(pair) & 0xffff0000U));
  };
  const auto add = [](float to, float x, float y) {
    return without_denormals(std::fma(x, y, without_denormals(to)));
  };
  return add(add(sum, second(a), second(b)), first(a), first(b));
}

/// c[row, column] (+)= Σ over pairs k, in order, of a[row, k] · b[k, column]; the columns are those
/// of one panel.
struct PairProduct {
  int64_t rows = 0;
  int64_t pairs = 0;
  const float* a = nullptr;  // a[row · a_row_stride + k · a_pair_stride]
  int64_t a_row_stride = 0;
  int64_t a_pair_stride = 0;
  const float* b = nullptr;  // [k, column]
  int64_t b_stride = 0;
  float* c = nullptr;  // [row, column]
  int64_t c_stride = 0;
  bool accumulate = false;
};
using MultiplyPairs = void(const PairProduct& product);

}  // namespace bntt::kernels
