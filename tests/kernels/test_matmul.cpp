#include <gtest/gtest.h>

#include "guarded.h"
#include "kernels/matmul.h"

namespace bntt::kernels {
namespace {

using testing::Guarded;
using testing::Numbers;

void expect_product(const MatmulShape& shape) {
  SCOPED_TRACE(::testing::Message() << shape.rows << "x" << shape.inner << "x" << shape.columns
                                    << (shape.transpose_a == Transpose::yes ? ", a transposed" : "")
                                    << (shape.transpose_b == Transpose::yes ? ", b transposed" : "")
                                    << (shape.accumulate ? ", accumulated" : ""));
  const bool turned_a = shape.transpose_a == Transpose::yes;
  const bool turned_b = shape.transpose_b == Transpose::yes;
  Numbers numbers(4);
  const auto a = numbers.vector((turned_a ? shape.inner : shape.rows) * shape.a_stride);
  const auto b = numbers.vector((turned_b ? shape.columns : shape.inner) * shape.b_stride);
  const auto before = numbers.vector(shape.rows * shape.c_stride);
  Guarded<float> c(before);
  matmul(shape, a.data(), b.data(), c.data());
  EXPECT_TRUE(c.guards_intact());
  for (int64_t i = 0; i < shape.rows; ++i) {
    for (int64_t j = 0; j < shape.c_stride; ++j) {
      const int64_t at = i * shape.c_stride + j;
      if (j >= shape.columns) {
        ASSERT_EQ(c.data()[at], before[at]) << "between the rows";
        continue;
      }
      double sum = shape.accumulate ? before[at] : 0.0;
      for (int64_t k = 0; k < shape.inner; ++k) {
        sum += static_cast<double>(a[turned_a ? k * shape.a_stride + i : i * shape.a_stride + k]) *
               b[turned_b ? j * shape.b_stride + k : k * shape.b_stride + j];
      }
      ASSERT_NEAR(c.data()[at], sum, 2e-5);
    }
  }
}

TEST(Matmul, AgreesWithPlainLoops) {
  for (const auto& [rows, inner, columns] :
       {std::tuple{1, 1, 1}, std::tuple{3, 5, 7}, std::tuple{17, 64, 10}, std::tuple{1, 130, 33}}) {
    for (const Transpose transpose_a : {Transpose::no, Transpose::yes}) {
      for (const Transpose transpose_b : {Transpose::no, Transpose::yes}) {
        for (const bool accumulate : {false, true}) {
          for (const int64_t gap : {0, 3}) {
            expect_product({.rows = rows,
                            .columns = columns,
                            .inner = inner,
                            .transpose_a = transpose_a,
                            .transpose_b = transpose_b,
                            .a_stride = (transpose_a == Transpose::yes ? rows : inner) + gap,
                            .b_stride = (transpose_b == Transpose::yes ? inner : columns) + gap,
                            .c_stride = columns + gap,
                            .accumulate = accumulate});
          }
        }
      }
    }
  }
}

// Rows that overlap are refused by oneDNN, which then writes nothing.
TEST(MatmulDeathTest, AbortsWhenTheProductIsRefused) {
  const std::vector<float> a(4);
  const std::vector<float> b(4);
  std::vector<float> c(4);
  const MatmulShape shape = {
      .rows = 2, .columns = 2, .inner = 2, .a_stride = 2, .b_stride = 2, .c_stride = 1};
  EXPECT_DEATH(matmul(shape, a.data(), b.data(), c.data()), "check failed: status");
}

}  // namespace
}  // namespace bntt::kernels
