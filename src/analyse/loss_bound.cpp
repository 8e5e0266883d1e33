#include "analyse/loss_bound.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace bntt {
namespace {

int64_t scaled(int64_t count, int64_t from, int64_t to) {
  return std::llround(static_cast<double>(count) * static_cast<double>(to) /
                      static_cast<double>(from));
}

}  // namespace

// Computes the largest term with logarithms and the others from their neighbours until they become
// negligible.
double binomial_at_most(int64_t count, int64_t samples, double share) {
  const auto n = static_cast<double>(samples);
  const auto k = static_cast<double>(count);
  const double first = std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) +
                       k * std::log(share) + (n - k) * std::log1p(-share);
  const double odds = (1.0 - share) / share;
  double sum = 0.0;
  double term = 1.0;
  for (int64_t i = count; i >= 0 && term > 1e-17 * sum; --i) {
    sum += term;
    term *= static_cast<double>(i) / static_cast<double>(samples - i + 1) * odds;
  }
  return std::exp(first + std::log(sum));
}

double PairedAnswers::loss() const {
  if (samples == 0) return 0.0;
  return 100.0 * static_cast<double>(lost - gained) / static_cast<double>(samples);
}

PairedAnswers paired_answers(const std::vector<bool>& whole, const std::vector<bool>& rule) {
  BNTT_CHECK(whole.size() == rule.size());
  PairedAnswers answers{.samples = static_cast<int64_t>(whole.size())};
  for (std::size_t i = 0; i < whole.size(); ++i) {
    answers.lost += whole[i] && !rule[i] ? 1 : 0;
    answers.gained += rule[i] && !whole[i] ? 1 : 0;
  }
  return answers;
}

double upper_share(int64_t count, int64_t samples, double confidence) {
  if (count >= samples) return 1.0;
  // The tail falls as the share rises; below the observed share it is at least about one half. 60
  // bisections reach the precision of a double.
  double low = static_cast<double>(count) / static_cast<double>(samples);
  double high = 1.0;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (binomial_at_most(count, samples, middle) > 1.0 - confidence ? low : high) = middle;
  }
  return high;
}

double lower_share(int64_t count, int64_t samples, double confidence) {
  return 1.0 - upper_share(samples - count, samples, confidence);
}

double loss_bound(const PairedAnswers& answers, double confidence) {
  if (answers.samples == 0) return 100.0;
  const auto n = static_cast<double>(answers.samples);
  const double lost = static_cast<double>(answers.lost) / n;
  const double gained = static_cast<double>(answers.gained) / n;
  const double most_lost = upper_share(answers.lost, answers.samples, confidence);
  const double up = most_lost - lost;
  const double down = gained - lower_share(answers.gained, answers.samples, confidence);
  // Two shares of one sample are negatively correlated: one falls as the other rises.
  const double odds = most_lost * gained / ((1.0 - most_lost) * (1.0 - gained));
  const double correlation = gained > 0.0 ? std::sqrt(std::min(1.0, odds)) : 0.0;
  const double reach = std::sqrt(up * up + down * down + 2.0 * correlation * up * down);
  return 100.0 * std::min(1.0, lost - gained + reach);
}

std::optional<int64_t> least_samples(double max_loss, double confidence) {
  if (!(max_loss > 0.0)) return std::nullopt;
  if (max_loss >= 100.0) return 1;
  // 1 − (1 − confidence)^(1/n) <= max_loss / 100
  const double samples = std::log(1.0 - confidence) / std::log1p(-max_loss / 100.0);
  return static_cast<int64_t>(std::ceil(samples));
}

std::optional<int64_t> samples_needed(const PairedAnswers& seen, double max_loss,
                                      double confidence) {
  constexpr int64_t kMost = 100'000'000;
  const std::optional<int64_t> least = least_samples(max_loss, confidence);
  if (!least || seen.samples == 0 || seen.loss() >= max_loss) return std::nullopt;
  const auto enough = [&](int64_t samples) {
    return loss_bound({.samples = samples,
                       .lost = scaled(seen.lost, seen.samples, samples),
                       .gained = scaled(seen.gained, seen.samples, samples)},
                      confidence) <= max_loss;
  };
  int64_t high = std::max(*least, seen.samples);
  int64_t low = high;
  while (!enough(high)) {
    low = high;
    high *= 2;
    if (high > kMost) return std::nullopt;
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace bntt
