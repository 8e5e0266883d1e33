#include "kernels/pair_products_avx512bf16.h"

#include <hwy/base.h>

#if HWY_ARCH_X86
#include <immintrin.h>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx2,fma")
namespace bntt::kernels {
namespace {

constexpr int64_t kLanes = 16;
constexpr int kVectors = kAvx512PairColumns / kLanes;

/// rows x kVectors sums in registers. 12 x 2 leave room for the factors and hide the instruction's
/// latency.
template <int rows>
inline void multiply_rows(const PairProduct& product, int64_t first) {
  const float* a = product.a + first * product.a_row_stride;
  float* c = product.c + first * product.c_stride;
  __m512 sums[rows][kVectors];
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      sums[r][v] = product.accumulate ? _mm512_loadu_ps(c + r * product.c_stride + v * kLanes)
                                      : _mm512_setzero_ps();
    }
  }
  const int64_t row_stride = product.a_row_stride;
  const float* b = product.b;
  for (int64_t k = 0; k < product.pairs; ++k) {
    __m512bh factors[kVectors];
    for (int v = 0; v < kVectors; ++v) factors[v] = (__m512bh)_mm512_loadu_ps(b + v * kLanes);
    for (int r = 0; r < rows; ++r) {
      const auto values = (__m512bh)_mm512_set1_ps(a[r * row_stride]);
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = _mm512_dpbf16_ps(sums[r][v], values, factors[v]);
      }
    }
    a += product.a_pair_stride;
    b += product.b_stride;
  }
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      _mm512_storeu_ps(c + r * product.c_stride + v * kLanes, sums[r][v]);
    }
  }
}

}  // namespace

void avx512_multiply_pairs(const PairProduct& product) {
  constexpr int kRows = 12;
  int64_t row = 0;
  for (; row + kRows <= product.rows; row += kRows) multiply_rows<kRows>(product, row);
  for (; row + 4 <= product.rows; row += 4) multiply_rows<4>(product, row);
  for (; row < product.rows; ++row) multiply_rows<1>(product, row);
}

}  // namespace bntt::kernels
HWY_POP_ATTRIBUTES
#endif
