#include "kernels/matmul.h"

#include <oneapi/dnnl/dnnl.h>

namespace bntt::kernels {

void matmul(const MatmulShape& shape, const float* a, const float* b, float* c) {
  const auto letter = [](Transpose transpose) { return transpose == Transpose::yes ? 'T' : 'N'; };
  dnnl_sgemm(letter(shape.transpose_a), letter(shape.transpose_b), shape.rows, shape.columns,
             shape.inner, 1.0F, a, shape.a_stride, b, shape.b_stride,
             shape.accumulate ? 1.0F : 0.0F, c, shape.c_stride);
}

}  // namespace bntt::kernels
