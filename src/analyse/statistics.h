#pragma once

#include <cstdint>
#include <vector>

namespace bntt {

struct ConfidenceInterval {
  double low = 0.0;
  double high = 0.0;
};

/// Wilson's 95 % interval of the share of a population that has a property which `count` of
/// `samples` have: shares of 0..1. Without a sample: all shares.
ConfidenceInterval wilson_interval(int64_t count, int64_t samples);

/// The same number measured several times, as over seeds.
struct Spread {
  int64_t count = 0;
  double mean = 0.0;
  double deviation = 0.0;  ///< of a sample, by count − 1; 0 for a single number
};
Spread spread_of(const std::vector<double>& values);

/// McNemar's paired comparison of two methods on the same samples: only those count that the two
/// answer differently.
struct PairedComparison {
  int64_t samples = 0;
  int64_t only_first = 0;   ///< right by the first method alone
  int64_t only_second = 0;  ///< right by the second method alone
  /// The chance of a split at least so uneven if both were equally good: two-sided, by the exact
  /// binomial distribution whatever the counts.
  double p = 1.0;

  /// Points of accuracy by which the first is better.
  double difference() const;
};
/// [sample]: whether the answer is right.
PairedComparison compare_paired(const std::vector<bool>& first, const std::vector<bool>& second);

}  // namespace bntt
