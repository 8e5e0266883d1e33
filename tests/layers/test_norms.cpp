#include <gtest/gtest.h>

#include <numeric>

#include "norm_bench.h"

// What every norm owes, whatever it computes.
namespace bntt {
namespace {

using testing::NamedNorm;
using testing::NormBench;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

std::vector<double> moved(std::vector<double> x, const std::vector<double>& direction, double by) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += by * direction[i];
  return x;
}

class EveryNorm : public ::testing::TestWithParam<std::tuple<NamedNorm, NormMode>> {
 protected:
  std::string kind() const { return std::get<0>(GetParam()).kind; }
  NormMode mode() const { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Norms, EveryNorm,
                         ::testing::Combine(::testing::ValuesIn(testing::every_norm()),
                                            ::testing::Values(NormMode::batch, NormMode::running)),
                         [](const auto& norm) {
                           return std::string(std::get<0>(norm.param).name) +
                                  (std::get<1>(norm.param) == NormMode::batch ? "_batch"
                                                                              : "_running");
                         });

// L = Σ w y. Directional derivatives move every x at once, so that rounding in fp32 coefficients
// stays far below them.
TEST_P(EveryNorm, CurrentGradientIsTheFiniteDifference) {
  NormBench bench(kind(), 1, 2);
  const auto x = bench.numbers(bench.size(), 0.5, 2.0);
  const auto w = bench.numbers(bench.size(), 0.0, 1.0);
  const auto gradient = bench.backward(x, w, mode()).current;
  const double length = std::sqrt(dot(gradient, gradient));
  constexpr double kStep = 1.0 / 128;
  for (int trial = 0; trial < 20; ++trial) {
    auto direction = bench.numbers(bench.size(), 0.0, 1.0);
    if (trial % 4 == 0)
      direction = std::vector<double>(x.size(), 1.0);  // the norms' blind direction
    const double above = dot(w, bench.output(moved(x, direction, kStep), mode()));
    const double below = dot(w, bench.output(moved(x, direction, -kStep), mode()));
    EXPECT_NEAR((above - below) / (2 * kStep), dot(gradient, direction), 1e-3 * length);
  }
}

TEST_P(EveryNorm, CurrentGradientIsRightForSingleCurrents) {
  NormBench bench(kind(), 0, 3);
  const auto x = bench.numbers(bench.size(), -0.5, 2.0);
  const auto w = bench.numbers(bench.size(), 0.0, 1.0);
  const auto gradient = bench.backward(x, w, mode()).current;
  constexpr double kStep = 1.0 / 64;
  for (std::size_t i = 0; i < x.size(); i += 7) {
    std::vector<double> direction(x.size(), 0.0);
    direction[i] = 1.0;
    const double above = dot(w, bench.output(moved(x, direction, kStep), mode()));
    const double below = dot(w, bench.output(moved(x, direction, -kStep), mode()));
    EXPECT_NEAR((above - below) / (2 * kStep), gradient[i], 2e-3) << "current " << i;
  }
}

TEST_P(EveryNorm, GainGradientIsTheFiniteDifference) {
  NormBench bench(kind(), 1, 2);
  const auto x = bench.numbers(bench.size(), 0.5, 2.0);
  const auto w = bench.numbers(bench.size(), 0.0, 1.0);
  const auto gradient = bench.backward(x, w, mode()).gain;
  ASSERT_EQ(gradient.size(), bench.gain().size());
  const double before = dot(w, bench.output(x, mode()));
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    bench.gain()[i] += 1.0;  // L is linear in γ
    EXPECT_NEAR(dot(w, bench.output(x, mode())) - before, gradient[i], 1e-4) << "gain " << i;
    bench.gain()[i] -= 1.0;
  }
}

TEST(Norms, BnttGivesStepsOutsideTheWindowNoGainGradient) {
  NormBench bench("bntt", 1, 2);
  const auto x = bench.numbers(bench.size(), 0.5, 2.0);
  const auto w = bench.numbers(bench.size(), 0.0, 1.0);
  const auto gradient = bench.backward(x, w, NormMode::batch).gain;
  for (int64_t c = 0; c < NormBench::kChannels; ++c) {
    EXPECT_EQ(gradient[c], 0.0);
    EXPECT_NE(gradient[NormBench::kChannels + c], 0.0);
    EXPECT_EQ(gradient[3 * NormBench::kChannels + c], 0.0);
  }
}

TEST_P(EveryNorm, EvaluationLeavesTheRunningStatistics) {
  NormBench bench(kind(), 0, 4);
  const auto x = bench.numbers(bench.size(), 0.5, 2.0);
  RunningStatistics running = bench.running();
  bench.trace(x, mode(), running);
  bool moved_any = false;
  for (int64_t i = 0; i < running.mean.size(); ++i) {
    moved_any |= running.mean[i] != bench.running().mean[i];
    moved_any |= running.variance[i] != bench.running().variance[i];
  }
  EXPECT_EQ(moved_any, mode() == NormMode::batch && running.rows > 0);
}

TEST(Norms, HaveTheRowsOfTheirDefinition) {
  const auto rows = [](std::string kind) {
    const auto norm = make_norm({.kind = kind}, 8, 25);
    return std::tuple{norm->gain_rows(), norm->statistics_rows(), norm->per_image()};
  };
  EXPECT_EQ(rows("none"), (std::tuple{0, 0, false}));
  EXPECT_EQ(rows("bntt"), (std::tuple{25, 25, false}));
  EXPECT_EQ(rows("bn"), (std::tuple{1, 1, false}));
  EXPECT_EQ(rows("bn-time"), (std::tuple{1, 1, false}));
  EXPECT_EQ(rows("layer"), (std::tuple{1, 0, true}));
}

}  // namespace
}  // namespace bntt
