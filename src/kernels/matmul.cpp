#include "kernels/matmul.h"

#include <oneapi/dnnl/dnnl.h>

#include <new>

#include "base/check.h"

namespace bntt::kernels {

void matmul(const MatmulShape& shape, const float* a, const float* b, float* c) {
  const auto letter = [](Transpose transpose) { return transpose == Transpose::yes ? 'T' : 'N'; };
  const dnnl_status_t status =
      dnnl_sgemm(letter(shape.transpose_a), letter(shape.transpose_b), shape.rows, shape.columns,
                 shape.inner, 1.0F, a, shape.a_stride, b, shape.b_stride,
                 shape.accumulate ? 1.0F : 0.0F, c, shape.c_stride);
  if (status == dnnl_out_of_memory) throw std::bad_alloc();
  BNTT_CHECK(status == dnnl_success);
}

}  // namespace bntt::kernels
