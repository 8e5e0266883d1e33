#include <gtest/gtest.h>

#include "analyse/statistics.h"

namespace bntt {
namespace {

// The ends of Wilson's interval are the two shares p with (p − k/n)² = z² p (1 − p)/n. The numbers
// were computed from that equation with 40 decimal digits.
TEST(Statistics, WilsonIntervals) {
  struct Case {
    int64_t count, samples;
    double low, high;
  };
  for (const Case& c :
       {Case{9050, 10000, 0.899096572677, 0.910592388643},
        Case{5, 10, 0.236593090513, 0.763406909487}, Case{1, 20, 0.008881448801, 0.236131193447},
        Case{0, 10, 0.0, 0.277532799863}, Case{20, 20, 0.838874841947, 1.0}}) {
    const ConfidenceInterval interval = wilson_interval(c.count, c.samples);
    EXPECT_NEAR(interval.low, c.low, 1e-11) << c.count << " of " << c.samples;
    EXPECT_NEAR(interval.high, c.high, 1e-11) << c.count << " of " << c.samples;
  }
  EXPECT_EQ(wilson_interval(0, 10).low, 0.0);
  EXPECT_EQ(wilson_interval(20, 20).high, 1.0);
  EXPECT_EQ(wilson_interval(0, 0).high, 1.0);
}

TEST(Statistics, SpreadOverSeeds) {
  const Spread spread = spread_of({90.1, 90.5, 90.6});
  EXPECT_EQ(spread.count, 3);
  EXPECT_NEAR(spread.mean, 90.4, 1e-12);
  EXPECT_NEAR(spread.deviation, 0.26457513110645907, 1e-12);  // √0.07
  EXPECT_EQ(spread_of({88.7}).deviation, 0.0);
  EXPECT_EQ(spread_of({}).count, 0);
}

/// Two methods with so many samples that only the one or the other answers, and some that both do.
PairedComparison compared(int64_t only_first, int64_t only_second, int64_t both = 50) {
  std::vector<bool> first(both, true);
  std::vector<bool> second(both, true);
  for (int64_t i = 0; i < only_first + only_second; ++i) {
    first.push_back(i < only_first);
    second.push_back(i >= only_first);
  }
  return compare_paired(first, second);
}

// Sums of binomial coefficients over powers of two, in exact fractions.
TEST(Statistics, McNemarsTestIsTheExactBinomialOne) {
  EXPECT_NEAR(compared(10, 2).p, 0.03857421875, 1e-13);
  EXPECT_NEAR(compared(2, 10).p, 0.03857421875, 1e-13);
  EXPECT_NEAR(compared(0, 5).p, 0.0625, 1e-13);
  EXPECT_EQ(compared(7, 7).p, 1.0);
  EXPECT_NEAR(compared(3, 4).p, 1.0, 1e-12);
  EXPECT_EQ(compared(0, 0).p, 1.0);
  EXPECT_NEAR(compared(121, 59).p, 4.434449263755176e-06, 4.434449263755176e-06 * 1e-10);
  EXPECT_NEAR(compared(600, 500).p, 0.0028195449914364275, 0.0028195449914364275 * 1e-10);
}

TEST(Statistics, APairedComparisonCountsWhatDiffers) {
  const PairedComparison comparison = compared(10, 2, 88);
  EXPECT_EQ(comparison.samples, 100);
  EXPECT_EQ(comparison.only_first, 10);
  EXPECT_EQ(comparison.only_second, 2);
  EXPECT_NEAR(comparison.difference(), 8.0, 1e-12);
  EXPECT_EQ(compare_paired({}, {}).difference(), 0.0);
}

}  // namespace
}  // namespace bntt
