#include "analyse/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyse/loss_bound.h"
#include "base/check.h"

namespace bntt {
namespace {

constexpr double kNormal95 = 1.959963984540054;  // two-sided

}  // namespace

ConfidenceInterval wilson_interval(int64_t count, int64_t samples) {
  if (samples == 0) return {0.0, 1.0};
  const auto n = static_cast<double>(samples);
  const double share = static_cast<double>(count) / n;
  const double z2 = kNormal95 * kNormal95;
  const double centre = share + z2 / (2.0 * n);
  const double reach = kNormal95 * std::sqrt(share * (1.0 - share) / n + z2 / (4.0 * n * n));
  const double scale = 1.0 + z2 / n;
  // The ends are exactly 0 and 1 if nothing or everything was counted.
  return {count == 0 ? 0.0 : (centre - reach) / scale,
          count == samples ? 1.0 : (centre + reach) / scale};
}

Spread spread_of(const std::vector<double>& values) {
  Spread spread{.count = static_cast<int64_t>(values.size())};
  if (values.empty()) return spread;
  const auto n = static_cast<double>(values.size());
  spread.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() == 1) return spread;
  double squares = 0.0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / (n - 1.0));
  return spread;
}

double PairedComparison::difference() const {
  if (samples == 0) return 0.0;
  return 100.0 * static_cast<double>(only_first - only_second) / static_cast<double>(samples);
}

PairedComparison compare_paired(const std::vector<bool>& first, const std::vector<bool>& second) {
  BNTT_CHECK(first.size() == second.size());
  const PairedAnswers answers = paired_answers(first, second);
  PairedComparison result{
      .samples = answers.samples, .only_first = answers.lost, .only_second = answers.gained};
  const int64_t differing = result.only_first + result.only_second;
  if (differing == 0) return result;
  const int64_t fewer = std::min(result.only_first, result.only_second);
  result.p = std::min(1.0, 2.0 * binomial_at_most(fewer, differing, 0.5));
  return result;
}

}  // namespace bntt
