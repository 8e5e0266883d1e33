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
  const CrossEntropy loss = cross_entropy(buffer(std::vector<float>(10, 1.5F)), labels);
  EXPECT_NEAR(loss.loss, std::log(5.0), 1e-12);
  EXPECT_EQ(loss.correct, 1) << "of equals the first counts";
}

TEST(CrossEntropy, GradientIsTheFiniteDifference) {
  const std::vector<float> logits = {0.5F, -1.0F, 2.0F, 3.0F, 3.25F, -0.75F};
  const std::vector<int64_t> labels = {1, 0};
  const CrossEntropy loss = cross_entropy(buffer(logits), labels);
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
  const CrossEntropy loss = cross_entropy(buffer({huge, -huge, huge, -huge, 1e30F, 1e30F}), labels);
  EXPECT_TRUE(std::isfinite(loss.loss));
  EXPECT_EQ(loss.correct, 1);
  const std::vector<float> expected = {0.0F, 0.0F, 1.0F / 3, -1.0F / 3, 0.5F / 3, -0.5F / 3};
  for (int64_t i = 0; i < loss.gradient.size(); ++i) {
    EXPECT_FLOAT_EQ(loss.gradient[i], expected[i]);
  }
}

}  // namespace
}  // namespace bntt
