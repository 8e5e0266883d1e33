#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "layers/loss.h"

namespace bntt {
namespace {

Buffer<float> buffer(const std::vector<float>& values) {
  Buffer<float> result(static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), result.begin());
  return result;
}

TEST(CrossEntropy, OfEqualLogitsIsTheLogarithmOfTheClasses) {
  const std::vector<int64_t> labels = {2, 0};
  const Loss loss = cross_entropy(buffer(std::vector<float>(10, 1.5F)), labels);
  EXPECT_NEAR(loss.loss, std::log(5.0), 1e-12);
  EXPECT_EQ(loss.correct, 1) << "of equals the first counts";
}

TEST(CrossEntropy, GradientIsTheFiniteDifference) {
  const std::vector<float> logits = {0.5F, -1.0F, 2.0F, 3.0F, 3.25F, -0.75F};
  const std::vector<int64_t> labels = {1, 0};
  const Loss loss = cross_entropy(buffer(logits), labels);
  constexpr float kStep = 1.0F / 1024;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    auto above = logits;
    auto below = logits;
    above[i] += kStep;
    below[i] -= kStep;
    const double difference =
        cross_entropy(buffer(above), labels).loss - cross_entropy(buffer(below), labels).loss;
    EXPECT_NEAR(loss.gradient[static_cast<int64_t>(i)], difference / (2.0 * kStep), 1e-6);
  }
}

TEST(CrossEntropy, HugeLogitsStayFinite) {
  const float huge = std::numeric_limits<float>::max();
  const std::vector<int64_t> labels = {0, 1, 1};
  const Loss loss = cross_entropy(buffer({huge, -huge, huge, -huge, 1e30F, 1e30F}), labels);
  EXPECT_TRUE(std::isfinite(loss.loss));
  EXPECT_EQ(loss.correct, 1);
  const std::vector<float> expected = {0.0F, 0.0F, 1.0F / 3, -1.0F / 3, 0.5F / 3, -0.5F / 3};
  for (int64_t i = 0; i < loss.gradient.size(); ++i) {
    EXPECT_FLOAT_EQ(loss.gradient[i], expected[i]);
  }
}

// Three classes, logits (ln 2, 0, 0): p = (1/2, 1/4, 1/4). With a smoothing of 0.3 the target is
// (0.8, 0.1, 0.1): loss 0.8 ln 2 + 0.2 ln 4.
TEST(CrossEntropy, SmoothedLabelsOnPaper) {
  const std::vector<int64_t> labels = {0};
  const auto logits = buffer({std::log(2.0F), 0.0F, 0.0F});
  const Loss loss = cross_entropy(logits, labels, 0.3);
  EXPECT_NEAR(loss.loss, 1.2 * std::log(2.0), 1e-7);
  EXPECT_NEAR(loss.gradient[0], 0.5 - 0.8, 1e-7);
  EXPECT_NEAR(loss.gradient[1], 0.25 - 0.1, 1e-7);
}

// Logits (0.5, 0) and (1, 3) for labels 0 and 1: (0.25 + 0 + 1 + 4)/4.
TEST(SquaredError, OnPaper) {
  const std::vector<int64_t> labels = {0, 1};
  const auto logits = buffer({0.5F, 0.0F, 1.0F, 3.0F});
  const Loss loss = loss_of({.kind = "mse"}, {logits, logits}, labels);
  EXPECT_DOUBLE_EQ(loss.loss, 5.25 / 4);
  EXPECT_EQ(loss.correct, 2);
  EXPECT_FLOAT_EQ(loss.gradient[0], -0.25F);
  EXPECT_FLOAT_EQ(loss.gradient[3], 1.0F);
}

// T = 2, logits (2, 0) and (0, 2), label 0.
TEST(Tet, OnPaper) {
  const std::vector<int64_t> labels = {0};
  const auto of_steps = buffer({2.0F, 0.0F, 0.0F, 2.0F});
  const auto mean = buffer({1.0F, 1.0F});
  EXPECT_NEAR(cross_entropy(mean, labels).loss, 0.69315, 1e-5);
  const auto tet = [&](double share) {
    return loss_of({.kind = "tet", .tet_share = share}, {mean, of_steps}, labels);
  };
  EXPECT_NEAR(tet(0.0).loss, 1.12693, 1e-5);
  EXPECT_NEAR(tet(1.0).loss, 1.0, 1e-12);
  EXPECT_NEAR(tet(0.05).loss, 1.12058, 1e-5);
  EXPECT_TRUE(tet(0.05).of_steps);
  EXPECT_EQ(tet(0.05).correct, 1);
}

// The cross-entropy is convex: its mean over the steps is at least that of the mean logits.
TEST(Tet, IsAtLeastTheCrossEntropyOfTheMean) {
  const std::vector<int64_t> labels = {2};
  for (int seed = 0; seed < 50; ++seed) {
    std::vector<float> of_steps;
    std::vector<float> mean(3, 0.0F);
    for (int i = 0; i < 4 * 3; ++i) {
      of_steps.push_back(3.0F * std::sin(static_cast<float>(17 * seed + 5 * i)));
      mean[i % 3] += of_steps.back() / 4.0F;
    }
    const Loss tet =
        loss_of({.kind = "tet", .tet_share = 0.0}, {buffer(mean), buffer(of_steps)}, labels);
    EXPECT_GE(tet.loss, cross_entropy(buffer(mean), labels).loss - 1e-6) << seed;
  }
}

TEST(EveryLoss, GradientIsTheFiniteDifference) {
  constexpr int64_t kSteps = 3;
  const std::vector<int64_t> labels = {1, 2};
  std::vector<float> of_steps;
  for (int i = 0; i < kSteps * 6; ++i) of_steps.push_back(std::sin(static_cast<float>(7 * i)));
  for (const LossEntry& entry : loss_table()) {
    SCOPED_TRACE(entry.name);
    const auto loss_at = [&](const std::vector<float>& values) {
      std::vector<float> mean(6, 0.0F);
      for (std::size_t i = 0; i < values.size(); ++i) mean[i % 6] += values[i] / kSteps;
      return loss_of({.kind = entry.name, .smoothing = 0.2, .tet_share = 0.3, .tet_target = 0.5},
                     {buffer(mean), buffer(values)}, labels);
    };
    const Loss loss = loss_at(of_steps);
    constexpr float kStep = 1.0F / 256;
    for (std::size_t i = 0; i < of_steps.size(); ++i) {
      auto above = of_steps;
      auto below = of_steps;
      above[i] += kStep;
      below[i] -= kStep;
      const double difference = (loss_at(above).loss - loss_at(below).loss) / (2.0 * kStep);
      const double expected = loss.of_steps ? loss.gradient[static_cast<int64_t>(i)]
                                            : loss.gradient[static_cast<int64_t>(i) % 6] / kSteps;
      EXPECT_NEAR(expected, difference, 2e-5) << i;
    }
  }
}

}  // namespace
}  // namespace bntt
