#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace bntt {

/// The one-sided confidence of every bound on which a proposal is based.
inline constexpr double kBoundConfidence = 0.95;

/// The same samples answered twice: with all steps, and with a rule that stops earlier.
struct PairedAnswers {
  int64_t samples = 0;
  int64_t lost = 0;    ///< right with all steps, wrong with the rule
  int64_t gained = 0;  ///< wrong with all steps, right with the rule

  /// Points of accuracy that the rule costs on these samples; negative if it gains.
  double loss() const;
};
/// `whole` and `rule` say for each sample whether the answer is right.
PairedAnswers paired_answers(const std::vector<bool>& whole, const std::vector<bool>& rule);

/// P(X <= count) of a binomial variable with 0 < share < 1.
double binomial_at_most(int64_t count, int64_t samples, double share);

/// The largest share of a population that is still plausible when `count` of `samples` have the
/// property: P(X <= count) = 1 − confidence (Clopper and Pearson).
double upper_share(int64_t count, int64_t samples, double confidence);
double lower_share(int64_t count, int64_t samples, double confidence);

/// An upper bound, with this confidence, on the points of accuracy that the rule costs on unseen
/// samples. The equation is in docs/analyses.md. Without samples: 100.
double loss_bound(const PairedAnswers& answers, double confidence = kBoundConfidence);

/// The smallest number of samples with which a rule that changes no answer is shown to cost at most
/// `max_loss` points; absent if no number suffices (0 points).
std::optional<int64_t> least_samples(double max_loss, double confidence = kBoundConfidence);

/// Roughly how many samples would show that a rule costs at most `max_loss` points, if it kept
/// losing and gaining the shares seen here; absent if the observed loss is already larger, or so
/// close that no affordable number suffices.
std::optional<int64_t> samples_needed(const PairedAnswers& seen, double max_loss,
                                      double confidence = kBoundConfidence);

}  // namespace bntt
