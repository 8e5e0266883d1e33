#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "bntt/error.h"
#include "norm_bench.h"

// What every norm owes, whatever it computes.
namespace bntt {
namespace {

using testing::NormBench;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

std::vector<double> moved(std::vector<double> x, const std::vector<double>& direction, double by) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += by * direction[i];
  return x;
}

/// Every entry of the table meets the whole contract.
std::vector<std::string> every_norm() {
  std::vector<std::string> names;
  for (const NormEntry& entry : norm_table()) names.emplace_back(entry.name);
  return names;
}

class EveryNorm : public ::testing::TestWithParam<std::tuple<std::string, NormMode>> {
 protected:
  std::string kind() const { return std::get<0>(GetParam()); }
  NormMode mode() const { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Norms, EveryNorm,
                         ::testing::Combine(::testing::ValuesIn(every_norm()),
                                            ::testing::Values(NormMode::batch, NormMode::running)),
                         [](const auto& norm) {
                           std::string name = std::get<0>(norm.param);
                           std::ranges::replace(name, '-', '_');
                           return name + (std::get<1>(norm.param) == NormMode::batch ? "_batch"
                                                                                     : "_running");
                         });

// L = Σ w y. Directional derivatives move every x at once, so that rounding in fp32 coefficients
// stays far below them.
TEST_P(EveryNorm, CurrentGradientIsTheFiniteDifference) {
  NormBench bench(kind(), 1, 2);
  const auto x = bench.numbers(bench.size(), 0.5, 2.0);
  const auto w = bench.numbers(bench.size(), 0.0, 1.0);
  const auto gradient = bench.backward(x, w, mode());
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
  const auto gradient = bench.backward(x, w, mode());
  constexpr double kStep = 1.0 / 64;
  for (std::size_t i = 0; i < x.size(); i += 7) {
    std::vector<double> direction(x.size(), 0.0);
    direction[i] = 1.0;
    const double above = dot(w, bench.output(moved(x, direction, kStep), mode()));
    const double below = dot(w, bench.output(moved(x, direction, -kStep), mode()));
    EXPECT_NEAR((above - below) / (2 * kStep), gradient[i], 2e-3) << "current " << i;
  }
}

TEST_P(EveryNorm, ParameterGradientsAreTheFiniteDifferences) {
  NormBench bench(kind(), 1, 2);
  const auto x = bench.numbers(bench.size(), 0.5, 2.0);
  const auto w = bench.numbers(bench.size(), 0.0, 1.0);
  bench.backward(x, w, mode());
  constexpr float kStep = 1.0F / 64;
  for (Parameter& parameter : bench.parameters()) {
    for (int64_t i = 0; i < parameter.value.size(); ++i) {
      const float value = parameter.value[i];
      const auto loss_at = [&](float moved_value) {
        parameter.value[i] = moved_value;
        return dot(w, bench.output(x, mode()));
      };
      const double difference = loss_at(value + kStep) - loss_at(value - kStep);
      EXPECT_NEAR(difference / (2 * kStep), parameter.gradient[i], 1e-3)
          << parameter.name << " " << i;
      parameter.value[i] = value;
    }
  }
}

TEST_P(EveryNorm, ParametersAreDeclaredByDistinctNames) {
  const NormBench bench(kind(), 0, 1);
  std::set<std::string> names;
  for (const ParameterDeclaration& declared : bench.norm().parameters()) {
    EXPECT_TRUE(names.insert(declared.name).second) << declared.name;
    EXPECT_GT(size_of(declared.pytorch_shape), 0);
  }
}

TEST(Norms, BnttGivesStepsOutsideTheWindowNoGainGradient) {
  NormBench bench("bntt", 1, 2);
  const auto x = bench.numbers(bench.size(), 0.5, 2.0);
  const auto w = bench.numbers(bench.size(), 0.0, 1.0);
  bench.backward(x, w, NormMode::batch);
  const Buffer<float>& gradient = bench.parameters()[0].gradient;
  for (int64_t c = 0; c < NormBench::kChannels; ++c) {
    EXPECT_EQ(gradient[c], 0.0);
    EXPECT_NE(gradient[NormBench::kChannels + c], 0.0);
    EXPECT_EQ(gradient[3 * NormBench::kChannels + c], 0.0);
  }
}

TEST_P(EveryNorm, EvaluationLeavesTheRunningStatistics) {
  NormBench bench(kind(), 0, 4);
  const auto x = bench.numbers(bench.size(), 0.5, 2.0);
  std::vector<Statistic> statistics = bench.statistics();
  bench.trace(x, mode(), statistics);
  bool moved_any = false;
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    moved_any |= !std::ranges::equal(statistics[i].value, bench.statistics()[i].value);
  }
  EXPECT_EQ(moved_any, mode() == NormMode::batch && !statistics.empty());
}

TEST(Norms, DeclareTheRowsOfTheirDefinition) {
  using Shape = std::vector<int64_t>;
  const auto shapes = [](const std::string& kind, bool shift) {
    const auto norm = make_norm({.kind = kind, .shift = shift}, {.channels = 8, .run_steps = 25});
    std::vector<Shape> result;
    for (const auto& declared : norm->parameters()) result.push_back(declared.pytorch_shape);
    for (const auto& declared : norm->statistics()) result.push_back(declared.pytorch_shape);
    return result;
  };
  const Shape all{25, 8};
  const Shape shared{8};
  EXPECT_EQ(shapes("none", false), std::vector<Shape>{});
  EXPECT_EQ(shapes("bntt", false), (std::vector<Shape>{all, all, all}));
  EXPECT_EQ(shapes("bntt", true), (std::vector<Shape>{all, all, all, all}));
  EXPECT_EQ(shapes("bn", false), (std::vector<Shape>{shared, shared, shared}));
  EXPECT_EQ(shapes("bn-time", false), (std::vector<Shape>{shared, shared, shared}));
  EXPECT_EQ(shapes("layer", true), (std::vector<Shape>{shared, shared}));
  EXPECT_EQ(shapes("tdbn", true), (std::vector<Shape>{shared, shared, shared, shared}));
  EXPECT_EQ(shapes("tebn", false), (std::vector<Shape>{shared, Shape{25}, shared, shared}));
}

TEST(Norms, UnknownKindsAreRefusedWithTheNearestName) {
  try {
    make_norm({.kind = "tbdn"}, {});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              fmt::format("unknown norm 'tbdn', expected one of {}, did you mean 'tdbn'?",
                          fmt::join(every_norm(), ", ")));
  }
  EXPECT_THROW(make_norm({.kind = "none", .shift = true}, {}), Error);
}

}  // namespace
}  // namespace bntt
