#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "guarded.h"
#include "kernels/bf16_kernels.h"

namespace bntt::kernels {
namespace {

using testing::EverySet;
using testing::Guarded;
using testing::Numbers;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLeastNormal = std::numeric_limits<float>::min();

TEST(Bf16Products, RoundToNearestTiesToEvenAndFlush) {
  EXPECT_EQ(rounded_half(1.0F), 0x3f80U);
  EXPECT_EQ(rounded_half(1.0F + 0x1p-8F), 0x3f80U);  // a tie, down to even
  EXPECT_EQ(rounded_half(1.0F + 0x3p-8F), 0x3f82U);  // a tie, up to even
  EXPECT_EQ(rounded_half(-kInfinity), 0xff80U);
  EXPECT_EQ(rounded_half(std::numeric_limits<float>::max()), 0x7f80U);
  EXPECT_EQ(rounded_half(std::nextafter(kLeastNormal, 0.0F)), 0U);  // not the least normal number
  EXPECT_EQ(rounded_half(-0x1p-140F), 0x8000U);
  EXPECT_EQ(rounded_half(std::bit_cast<float>(0x7f800001U)), 0x7fc0U);
}

// What an AMD Zen 4 gave; another order or a single rounding would differ.
TEST(Bf16Products, AddTheSecondProductFirstEachWithItsOwnRounding) {
  EXPECT_EQ(add_pair_product(-0x1.a10356p+7F, rounded_pair(0x1.d8p+20F, 0x1.76p+26F),
                             rounded_pair(0x1.26p-19F, 0x1.1ep-3F)),
            0x1.a1d266p+23F);
  EXPECT_EQ(add_pair_product(0x1.5aa42p-13F, rounded_pair(0x1.d2p-8F, -0x1.88p-14F),
                             rounded_pair(-0x1.16p-16F, 0x1.fcp-12F)),
            0x1.5a4c8ep-13F);
  // Both steps' results are too small to be kept: a zero with the sign of the second.
  const float flushed = add_pair_product(0x1.12620cp-127F, rounded_pair(-0x1.84p-53F, -0x1.5cp-70F),
                                         rounded_pair(-0x1.1ap-76F, 0x1.9ep-75F));
  EXPECT_EQ(std::bit_cast<uint32_t>(flushed), 0U);
}

/// Halves of every kind: any bits, moderate numbers, special ones, and such that products or sums
/// are about the least normal number.
float pair_of_kind(Numbers& numbers, uint32_t kind) {
  constexpr uint32_t kSpecial[] = {0,      0x8000, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 1,     0x8001,
                                   0x007f, 0x0080, 0x3f80, 0xbf80, 0x7f7f, 0xff7f, 0x8080};
  const auto half = [&] {
    const uint32_t bits = numbers.bits();
    const uint32_t sign_and_mantissa = bits >> 8 & 0x807fU;
    switch (kind) {
      case 0:
        return bits >> 16;
      case 1:
        return sign_and_mantissa | (120U + bits % 16U) << 7;
      case 2:
        return kSpecial[bits % std::size(kSpecial)];
      default:
        return sign_and_mantissa | (58U + bits % 8U) << 7;
    }
  };
  const uint32_t first = half();
  return std::bit_cast<float>(first | half() << 16);
}

class Bf16Sets : public EverySet {
 protected:
  static bool same(const Guarded<float>& ours, const Guarded<float>& expected) {
    for (int64_t i = 0; i < ours.size(); ++i) {
      const float a = ours.data()[i];
      const float b = expected.data()[i];
      if (std::isnan(a) && std::isnan(b)) continue;  // payloads are nobody's business
      if (std::bit_cast<uint32_t>(a) != std::bit_cast<uint32_t>(b)) return false;
    }
    return true;
  }

  /// Columns are those of this set's panel; the reference takes them one by one.
  void expect_the_references_bits(int64_t rows, int64_t pairs, uint32_t kind, bool accumulate) {
    Numbers numbers(static_cast<uint32_t>(rows * 1000 + pairs * 10) + kind);
    const int64_t columns = set().bf16.panel;
    Guarded<float> a(rows * pairs);
    Guarded<float> b(pairs * columns);
    for (int64_t i = 0; i < a.size(); ++i) a.data()[i] = pair_of_kind(numbers, kind);
    for (int64_t i = 0; i < b.size(); ++i) b.data()[i] = pair_of_kind(numbers, kind);
    Guarded<float> ours(rows * columns);
    for (int64_t i = 0; i < ours.size(); ++i) {
      // Sums near the least normal number where the products are.
      const uint32_t bits = numbers.bits();
      const uint32_t exponent = kind == 3 ? bits % 4U : 110U + bits % 40U;
      ours.data()[i] = kind == 2 ? widened_special(bits)
                                 : std::bit_cast<float>((bits & 0x807fffffU) | exponent << 23);
    }
    Guarded<float> expected = ours;
    const PairProduct product{.rows = rows,
                              .pairs = pairs,
                              .a = a.data(),
                              .a_row_stride = pairs,
                              .a_pair_stride = 1,
                              .b = b.data(),
                              .b_stride = columns,
                              .c = ours.data(),
                              .c_stride = columns,
                              .accumulate = accumulate};
    set().bf16.multiply_pairs(product);
    for (int64_t column = 0; column < columns; ++column) {
      PairProduct of_column = product;
      of_column.b += column;
      of_column.c = expected.data() + column;
      reference_.bf16.multiply_pairs(of_column);
    }
    EXPECT_TRUE(same(ours, expected)) << rows << " rows, " << pairs << " pairs, kind " << kind;
    EXPECT_TRUE(ours.guards_intact());
  }

  static float widened_special(uint32_t bits) {
    constexpr uint32_t kSpecial[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 1,
                                     0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0x7f7fffff};
    return std::bit_cast<float>(kSpecial[bits % std::size(kSpecial)]);
  }
};

TEST_P(Bf16Sets, GiveTheReferencesBits) {
  for (const int64_t rows : {1, 3, 4, 12, 29}) {
    for (const int64_t pairs : {1, 2, 7, 32}) {
      for (uint32_t kind = 0; kind < 4; ++kind) {
        for (const bool accumulate : {false, true}) {
          expect_the_references_bits(rows, pairs, kind, accumulate);
        }
      }
    }
  }
  // One pair at a time, many times: here a difference cannot drown in a later sum.
  for (uint32_t kind = 0; kind < 4; ++kind) expect_the_references_bits(4000, 1, kind, true);
}

TEST_P(Bf16Sets, IgnoreTheRoundingOfTheThread) {
  if (!set().bf16.native) GTEST_SKIP() << "plain loops round as the thread does";
  const int64_t columns = set().bf16.panel;
  Numbers numbers(5);
  Guarded<float> a(64);
  Guarded<float> b(64 * columns);
  for (int64_t i = 0; i < a.size(); ++i) a.data()[i] = pair_of_kind(numbers, 1);
  for (int64_t i = 0; i < b.size(); ++i) b.data()[i] = pair_of_kind(numbers, 1);
  const auto product = [&](Guarded<float>& c) {
    set().bf16.multiply_pairs({.rows = 1,
                               .pairs = 64,
                               .a = a.data(),
                               .a_row_stride = 64,
                               .a_pair_stride = 1,
                               .b = b.data(),
                               .b_stride = columns,
                               .c = c.data(),
                               .c_stride = columns});
  };
  Guarded<float> nearest(columns);
  Guarded<float> upward(columns);
  product(nearest);
  std::fesetround(FE_UPWARD);
  product(upward);
  std::fesetround(FE_TONEAREST);
  EXPECT_TRUE(upward.same_bits(nearest));
}

TEST(Bf16Kernels, UseTheInstructionWhereThereIsOne) {
  const KernelSet& fastest = kernel_sets().front();
  EXPECT_EQ(fastest.bf16.native, fastest.name == "avx512" && has_bf16_instruction());
}

INSTANTIATE_TEST_SUITE_P(Sets, Bf16Sets, ::testing::ValuesIn(kernel_sets()), testing::set_name);

}  // namespace
}  // namespace bntt::kernels
