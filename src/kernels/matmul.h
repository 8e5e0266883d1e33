#pragma once

#include <cstdint>

namespace bntt::kernels {

enum class Transpose { no, yes };

/// c[rows, columns] = a · b, or += with `accumulate`; row-major, and contiguous after the given
/// transpositions. Single-threaded inside a parallel loop (oneDNN's sgemm).
struct MatmulShape {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t inner = 0;
  Transpose transpose_a = Transpose::no;  ///< a is [inner, rows] in memory
  Transpose transpose_b = Transpose::no;  ///< b is [columns, inner] in memory
  int64_t a_stride = 0;                   ///< floats from row to row in memory
  int64_t b_stride = 0;
  int64_t c_stride = 0;
  bool accumulate = false;
};

/// Throws std::bad_alloc if oneDNN cannot allocate memory for its copies of the operands.
void matmul(const MatmulShape& shape, const float* a, const float* b, float* c);

}  // namespace bntt::kernels
