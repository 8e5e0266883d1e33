#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "guarded.h"
#include "kernels/bfloat16.h"

namespace bntt::kernels {
namespace {

float rounded(float value) {
  BFloat16 half = 0;
  float in_place = value;
  round_to_bfloat16(&in_place, 1, &half);
  EXPECT_EQ(std::bit_cast<uint32_t>(widened(half)), std::bit_cast<uint32_t>(in_place));
  return in_place;
}

TEST(BFloat16, RoundsToNearestTiesToEven) {
  EXPECT_EQ(rounded(1.0F), 1.0F);
  EXPECT_EQ(rounded(1.0F + 0x1p-8F), 1.0F);            // a tie, down to even
  EXPECT_EQ(rounded(1.0F + 0x3p-8F), 1.0F + 0x2p-7F);  // a tie, up to even
  EXPECT_EQ(rounded(1.0F + 0x1p-8F + 0x1p-20F), 1.0F + 0x1p-7F);
  EXPECT_EQ(rounded(-3.14159274F), -3.140625F);
  EXPECT_EQ(rounded(-0.0F), 0.0F);
  EXPECT_TRUE(std::signbit(rounded(-0.0F)));
}

TEST(BFloat16, KeepsWhatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(rounded(infinity), infinity);
  EXPECT_EQ(rounded(std::numeric_limits<float>::max()), infinity);
  EXPECT_TRUE(std::isnan(rounded(std::bit_cast<float>(0x7f800001U))));
  EXPECT_TRUE(std::isnan(rounded(std::bit_cast<float>(0xffffffffU))));
}

TEST(BFloat16, IsOffByAtMostAPart256) {
  testing::Numbers numbers(3);
  for (int i = 0; i < 1000; ++i) {
    const float value = numbers.around_zero(100.0F);
    EXPECT_LE(std::abs(rounded(value) - value), std::abs(value) * 0x1p-8F);
  }
}

}  // namespace
}  // namespace bntt::kernels
