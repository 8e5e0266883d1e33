#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/random.h"
#include "base/text.h"

namespace bntt {
namespace {

TEST(CsvField, IsQuotedOnlyWhereItMustBe) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field(""), "");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

TEST(Text, ExcerptFitsOneLine) {
  EXPECT_EQ(excerpt("a\nb\x7f"), "a\\x0ab\\x7f");
  EXPECT_EQ(excerpt(std::string(1000, 'x')), std::string(80, 'x') + "...");
  std::string umlauts = "x";
  for (int i = 0; i < 60; ++i) umlauts += "\xC3\xBC";
  const std::string shown = excerpt(umlauts);
  EXPECT_EQ(shown.substr(shown.size() - 5), "\xC3\xBC...");
}

TEST(Text, ShortestReadsWell) {
  EXPECT_EQ(shortest(0.95), "0.95");
  EXPECT_EQ(shortest(1e-4), "1e-4");
  EXPECT_EQ(shortest(5e-4), "5e-4");
  EXPECT_EQ(shortest(25), "25.0");
  EXPECT_EQ(shortest(-0.5), "-0.5");
  EXPECT_EQ(shortest(1e300), "1e+300");
  EXPECT_EQ(shortest(1e-10), "1e-10");
  EXPECT_EQ(shortest(std::numeric_limits<double>::infinity()), "inf");
}

TEST(Text, FloatsBecomeReadableAndComeBack) {
  EXPECT_EQ(shortest(readable_double(0.95F)), "0.95");
  EXPECT_EQ(shortest(readable_double(1e-4F)), "1e-4");
  for (uint32_t i = 0; i < 50000; ++i) {
    for (const uint32_t bits : draw4(1, Purpose::weights, {.block = i})) {
      const auto value = std::bit_cast<float>(bits);
      if (!std::isfinite(value)) continue;
      const double readable = readable_double(value);
      ASSERT_EQ(static_cast<float>(readable), value);
      ASSERT_EQ(std::strtod(shortest(readable).c_str(), nullptr), readable);
    }
  }
}

}  // namespace
}  // namespace bntt
