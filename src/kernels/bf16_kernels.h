#pragma once

#include "kernels/bf16_products.h"
#include "kernels/winograd.h"

namespace bntt::kernels {

/// Kernels whose products are of bf16 (see bf16_products.h): those of the instruction, or plain
/// loops that give the same bits. Winograd's have the types and the layouts of fp32's, except that
/// transformed values are bf16 in pairs and that the points of interpolation are others:
///   forward: packed weights [panel, place, pair of in, channel of the panel];
///   weight gradient: pairs of tiles; a last odd one is paired with zeros.
/// Scratch of fp32's size is enough for both.
struct Bf16Kernels {
  MultiplyPairs* multiply_pairs = nullptr;
  WinogradForward* winograd_forward = nullptr;
  WinogradWeightGradient* winograd_weight_gradient = nullptr;
  int64_t panel = 1;    // columns of a product
  bool native = false;  // by the instruction
};

/// Points of F(4x4, 3x3): 0, ±kBf16Points[0], ±kBf16Points[1] and infinity. With fp32's, 1 and 2,
/// the rounding to bf16 makes an error of 2.3 % of the result for real-valued input, with these of
/// 1.1 %. Their powers are exact.
inline constexpr double kBf16Points[] = {0.75, 1.5};

Bf16Kernels reference_bf16_kernels();
/// Needs has_bf16_instruction().
Bf16Kernels avx512_bf16_kernels();

/// Whether this processor has AVX512_BF16, and the system lets it be used.
bool has_bf16_instruction();

/// As pack_winograd_weights() and the others of winograd.h, in pairs of bf16, for the points above.
void pack_winograd_weights_bf16(const WinogradConvolution& convolution, const float* weights,
                                int64_t panel, float* packed);
void pack_winograd_weights_reversed_bf16(const WinogradConvolution& convolution,
                                         const float* weights, int64_t panel, float* packed);
void unpack_winograd_gradient_bf16(const WinogradConvolution& convolution, const float* transformed,
                                   int64_t in, float* weights);

/// Pairs of input channels, the last one paired with zero where they are odd.
inline int64_t input_pairs(const WinogradConvolution& convolution) {
  return (convolution.map.channels + 1) / 2;
}

}  // namespace bntt::kernels
