#pragma once

#include "kernels/bf16_products.h"
#include "kernels/winograd.h"

namespace bntt::kernels {

/// Kernels that multiply in bf16 (see bf16_products.h): with the processor's instruction, or plain
/// loops that give the same bits. The Winograd kernels have the types and layouts of the fp32 ones,
/// except that transformed values are pairs of bf16 and that the interpolation points differ:
///   forward: packed weights [panel, place, pair of in, channel of the panel];
///   weight gradient: pairs of tiles; if their number is odd, the last one is paired with zeros.
/// Scratch sized for fp32 is enough for both.
struct Bf16Kernels {
  MultiplyPairs* multiply_pairs = nullptr;
  WinogradForward* winograd_forward = nullptr;
  WinogradWeightGradient* winograd_weight_gradient = nullptr;
  int64_t panel = 1;    // columns of a product
  bool native = false;  // uses the processor's instruction
};

/// Interpolation points of F(4x4, 3x3): 0, ±kBf16Points[0], ±kBf16Points[1] and infinity. For
/// real-valued input, rounding to bf16 causes an error of 2.3 % of the result with the points 1 and
/// 2 of fp32, and of 1.1 % with these. Their powers are exact.
inline constexpr double kBf16Points[] = {0.75, 1.5};

Bf16Kernels reference_bf16_kernels();
/// Requires has_bf16_instruction().
Bf16Kernels avx512_bf16_kernels();

/// Whether this processor has AVX512_BF16 and the operating system has enabled it.
bool has_bf16_instruction();

/// Like pack_winograd_weights() and the others of winograd.h, in pairs of bf16, for the points
/// above.
void pack_winograd_weights_bf16(const WinogradConvolution& convolution, const float* weights,
                                int64_t panel, float* packed);
void pack_winograd_weights_reversed_bf16(const WinogradConvolution& convolution,
                                         const float* weights, int64_t panel, float* packed);
void unpack_winograd_gradient_bf16(const WinogradConvolution& convolution, const float* transformed,
                                   int64_t in, float* weights);

/// Pairs of input channels. If their number is odd, the last one is paired with zero.
inline int64_t input_pairs(const WinogradConvolution& convolution) {
  return (convolution.map.channels + 1) / 2;
}

}  // namespace bntt::kernels
