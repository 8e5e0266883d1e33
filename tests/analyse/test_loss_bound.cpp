#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analyse/exit_choice.h"
#include "analyse/loss_bound.h"

namespace bntt {
namespace {

TEST(LossBound, SharesAreThoseOfClopperAndPearson) {
  for (const int64_t samples : {1, 3, 12, 1000}) {
    EXPECT_NEAR(upper_share(0, samples, 0.95), 1.0 - std::pow(0.05, 1.0 / samples), 1e-12);
    EXPECT_NEAR(lower_share(samples, samples, 0.95), std::pow(0.05, 1.0 / samples), 1e-12);
    EXPECT_EQ(upper_share(samples, samples, 0.95), 1.0);
    EXPECT_EQ(lower_share(0, samples, 0.95), 0.0);
  }
  // P(X <= 1) = (1 − p)^10 + 10 p (1 − p)^9 = 0.05 and P(X >= 1) = 1 − (1 − p)^10 = 0.05.
  EXPECT_NEAR(upper_share(1, 10, 0.95), 0.394163, 1e-6);
  EXPECT_NEAR(lower_share(1, 10, 0.95), 0.005116, 1e-6);
}

TEST(LossBound, WithoutAChangedAnswerItIsAboutThreeOverTheSamples) {
  EXPECT_NEAR(loss_bound({.samples = 1000}), 100.0 * 3.0 / 1000.0, 0.01);
  EXPECT_NEAR(loss_bound({.samples = 10}), 100.0 * (1.0 - std::pow(0.05, 0.1)), 1e-9);
  EXPECT_NEAR(loss_bound({.samples = 1}), 95.0, 1e-9);
  EXPECT_EQ(loss_bound({}), 100.0);
}

TEST(LossBound, WithoutAGainItIsThatOfASingleShare) {
  for (const int64_t lost : {1, 7, 40}) {
    EXPECT_NEAR(loss_bound({.samples = 40, .lost = lost}), 100.0 * upper_share(lost, 40, 0.95),
                1e-9);
  }
}

TEST(LossBound, RisesWithLossesAndFallsWithGains) {
  constexpr int64_t kSamples = 30;
  for (int64_t lost = 0; lost <= kSamples; ++lost) {
    for (int64_t gained = 0; lost + gained <= kSamples; ++gained) {
      const PairedAnswers answers{.samples = kSamples, .lost = lost, .gained = gained};
      const double bound = loss_bound(answers);
      EXPECT_GT(bound + 1e-9, answers.loss());
      if (lost + gained == kSamples) continue;
      EXPECT_GE(loss_bound({kSamples, lost + 1, gained}) + 1e-9, bound) << lost << " " << gained;
      EXPECT_LE(loss_bound({kSamples, lost, gained + 1}), bound + 1e-9) << lost << " " << gained;
    }
  }
}

/// The chance that the bound holds, over all samples that a population with these shares can give.
double coverage(int64_t samples, double loses, double gains) {
  const auto n = static_cast<double>(samples);
  double sum = 0.0;
  for (int64_t lost = 0; lost <= samples; ++lost) {
    for (int64_t gained = 0; lost + gained <= samples; ++gained) {
      if (loss_bound({samples, lost, gained}) < 100.0 * (loses - gains) - 1e-9) continue;
      const auto b = static_cast<double>(lost);
      const auto c = static_cast<double>(gained);
      sum += std::exp(std::lgamma(n + 1) - std::lgamma(b + 1) - std::lgamma(c + 1) -
                      std::lgamma(n - b - c + 1)) *
             std::pow(loses, b) * std::pow(gains, c) * std::pow(1.0 - loses - gains, n - b - c);
    }
  }
  return sum;
}

TEST(LossBound, HoldsInAtLeast95OfAHundredSamplesWhateverTheShares) {
  for (const int64_t samples : {5, 12, 25}) {
    for (int loses = 0; loses <= 20; ++loses) {
      for (int gains = 0; loses + gains <= 20; ++gains) {
        EXPECT_GE(coverage(samples, loses / 20.0, gains / 20.0), 0.95 - 1e-9)
            << samples << " samples, loses " << loses / 20.0 << ", gains " << gains / 20.0;
      }
    }
  }
}

TEST(LossBound, FewestSamplesAreJustEnough) {
  EXPECT_EQ(least_samples(0.3), 998);
  for (const double max_loss : {0.1, 0.3, 1.0, 5.0, 50.0}) {
    const int64_t least = least_samples(max_loss).value();
    EXPECT_LE(loss_bound({.samples = least}), max_loss);
    if (least > 1) {
      EXPECT_GT(loss_bound({.samples = least - 1}), max_loss);
    }
  }
  EXPECT_EQ(least_samples(100.0), 1);
  EXPECT_FALSE(least_samples(0.0).has_value());
}

TEST(LossBound, MoreSamplesHelpWhereTheLossIsNotTheReason) {
  EXPECT_EQ(samples_needed({.samples = 12}, 0.3), 998);
  const int64_t needed = samples_needed({.samples = 1000, .lost = 6, .gained = 5}, 0.3).value();
  EXPECT_GT(needed, 3000);
  const int64_t thousands = needed / 1000;
  EXPECT_GT(loss_bound({1000 * thousands / 2, 3 * thousands, 5 * thousands / 2}), 0.3);
  EXPECT_LT(loss_bound({2000 * thousands, 12 * thousands, 10 * thousands}), 0.3);
  EXPECT_FALSE(samples_needed({.samples = 1000, .lost = 5, .gained = 2}, 0.3).has_value());
  EXPECT_FALSE(samples_needed({.samples = 1000}, 0.0).has_value());
}

TEST(LossBound, PairsAreCountedByTheAnswersThatChanged) {
  const PairedAnswers answers =
      paired_answers({true, true, false, false, true}, {true, false, true, false, false});
  EXPECT_EQ(answers.samples, 5);
  EXPECT_EQ(answers.lost, 2);
  EXPECT_EQ(answers.gained, 1);
  EXPECT_DOUBLE_EQ(answers.loss(), 20.0);
}

/// 100 images of class 0, two steps. The first `unsure` answer wrongly after one step, with the
/// confidence given; the others are right with certainty.
struct TwoSteps {
  TwoSteps(int64_t unsure, const std::vector<float>& confidences) : labels(100, 0) {
    trajectory.steps = 2;
    for (int64_t image = 0; image < 100; ++image) {
      const bool wrong = image < unsure;
      trajectory.predictions.insert(trajectory.predictions.end(), {wrong ? 1 : 0, 0});
      trajectory.confidence.insert(trajectory.confidence.end(),
                                   {wrong ? confidences[image % confidences.size()] : 1.0F, 1.0F});
    }
  }
  ExitAnswers judged() const { return {trajectory, labels, work}; }

  Trajectory trajectory;
  std::vector<int64_t> labels;
  std::vector<double> work = {1.0, 2.0};
};

TEST(ChooseLimit, StopsAtTheFirstLimitWhoseBoundIsTooLarge) {
  const TwoSteps steps(20, {0.755F});
  const std::vector<bool> whole = right_at(steps.judged(), 2);
  EXPECT_EQ(accuracy_of(whole), 100.0);
  // From 0.75 on twenty of a hundred answers are lost; the bound is above 20 points.
  const auto choice = choose_limit(steps.judged(), SampleExit::confidence, 2, {whole, 20.0});
  ASSERT_TRUE(choice.has_value());
  EXPECT_DOUBLE_EQ(choice->limit, 0.76);
  EXPECT_DOUBLE_EQ(choice->outcome.mean_steps, 1.2);
  EXPECT_DOUBLE_EQ(choose_limit(steps.judged(), SampleExit::confidence, 2, {whole, 30.0})->limit,
                   0.01);
  EXPECT_FALSE(choose_limit(steps.judged(), SampleExit::confidence, 2, {whole, 2.9}).has_value())
      << "a hundred images cannot show less than three points";
}

TEST(ChooseLimit, MoreConfidenceAsksForMore) {
  const TwoSteps steps(4, {0.5F});
  const std::vector<bool> whole = right_at(steps.judged(), 2);
  const LossLimit once{whole, 9.0};
  const LossLimit best_of_ten{whole, 9.0, 0.995};
  // Four of a hundred: at most 8.9 points with 95 % confidence, 11.9 with 99.5 %.
  EXPECT_DOUBLE_EQ(choose_limit(steps.judged(), SampleExit::confidence, 2, once)->limit, 0.01);
  EXPECT_DOUBLE_EQ(choose_limit(steps.judged(), SampleExit::confidence, 2, best_of_ten)->limit,
                   0.51);
}

}  // namespace
}  // namespace bntt
