#pragma once

#include <cstdint>
#include <vector>

namespace bntt {

struct ConfidenceInterval {
  double low = 0.0;
  double high = 0.0;
};

/// Wilson's 95 % interval for the share of a population with some property, if `count` of `samples`
/// have it: shares in 0..1. Without samples: all shares.
ConfidenceInterval wilson_interval(int64_t count, int64_t samples);

/// The same number measured several times, for example over seeds.
struct Spread {
  int64_t count = 0;
  double mean = 0.0;
  double deviation = 0.0;  ///< sample standard deviation (count − 1); 0 for a single number
};
Spread spread_of(const std::vector<double>& values);

/// McNemar's paired comparison of two methods on the same samples: only samples that the two answer
/// differently count.
struct PairedComparison {
  int64_t samples = 0;
  int64_t only_first = 0;   ///< right only with the first method
  int64_t only_second = 0;  ///< right only with the second method
  /// The probability of a split at least this uneven if both were equally good: two-sided, from the
  /// exact binomial distribution for all counts.
  double p = 1.0;

  /// Points of accuracy by which the first is better.
  double difference() const;
};
/// [sample]: whether the answer is right.
PairedComparison compare_paired(const std::vector<bool>& first, const std::vector<bool>& second);

}  // namespace bntt
