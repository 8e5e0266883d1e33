#include <gtest/gtest.h>

#include "norm_bench.h"

// What each norm computes, against plain sums in double precision.
namespace bntt {
namespace {

using testing::NormBench;

constexpr int64_t kChannels = NormBench::kChannels;
constexpr int64_t kSteps = 3;
constexpr int64_t kFirstStep = 1;

struct Group {
  double sum = 0.0;
  double squares = 0.0;
  double count = 0.0;
  double mean() const { return sum / count; }
  double biased() const { return squares / count - mean() * mean(); }
  double unbiased() const { return biased() * count / (count - 1.0); }
};

class NormValues : public ::testing::Test {
 protected:
  /// The samples that `belongs(step, image, channel)` picks.
  template <typename Belongs>
  static Group group(const NormBench& bench, const std::vector<double>& x, const Belongs& belongs) {
    Group result;
    std::size_t i = 0;
    for (int64_t step = 0; step < bench.split().steps; ++step) {
      for (int64_t image = 0; image < bench.split().batch; ++image) {
        for (int64_t pixel = 0; pixel < bench.split().pixels; ++pixel) {
          for (int64_t c = 0; c < kChannels; ++c, ++i) {
            if (!belongs(step, image, c)) continue;
            result.sum += x[i];
            result.squares += x[i] * x[i];
            result.count += 1.0;
          }
        }
      }
    }
    return result;
  }

  static void expect_row(const NormTrace& trace, int64_t at, double mean, double variance) {
    EXPECT_NEAR(trace.mean[at], mean, 1e-6);
    EXPECT_NEAR(trace.inverse_deviation[at], 1.0 / std::sqrt(variance + 1e-4), 1e-6);
  }
  static Buffer<float> ones() {
    Buffer<float> values(1);
    values.fill(1.0F);
    return values;
  }
  static void expect_followed(double now, double before, double newest) {
    EXPECT_NEAR(now, 0.9 * before + 0.1 * newest, 1e-6);
  }
};

TEST_F(NormValues, NoNormIsTheIdentity) {
  NormBench bench("none", 0, kSteps);
  const auto x = bench.numbers(bench.size(), 0.5, 2.0);
  EXPECT_EQ(bench.output(x, NormMode::batch), x);
  EXPECT_EQ(bench.output(x, NormMode::running), x);
}

TEST_F(NormValues, BnttKeepsEveryStepApart) {
  NormBench bench("bntt", kFirstStep, kSteps);
  const auto x = bench.numbers(bench.size(), 0.5, 2.0);
  const std::vector<Statistic> before = bench.statistics();
  const NormTrace trace = bench.trace(x, NormMode::batch, bench.statistics());
  for (int64_t step = 0; step < kSteps; ++step) {
    for (int64_t c = 0; c < kChannels; ++c) {
      const Group all =
          group(bench, x, [&](int64_t s, int64_t, int64_t k) { return s == step && k == c; });
      expect_row(trace, step * kChannels + c, all.mean(), all.biased());
      const int64_t kept = (kFirstStep + step) * kChannels + c;
      expect_followed(bench.statistics()[0].value[kept], before[0].value[kept], all.mean());
      expect_followed(bench.statistics()[1].value[kept], before[1].value[kept], all.unbiased());
    }
  }
  for (int64_t c = 0; c < kChannels; ++c) {
    EXPECT_EQ(bench.statistics()[0].value[c], before[0].value[c])
        << "a step before the window moved";
  }
}

TEST_F(NormValues, BnSharesTheRunningStatisticsOfAllSteps) {
  NormBench bench("bn", kFirstStep, kSteps);
  const auto x = bench.numbers(bench.size(), 0.5, 2.0);
  const std::vector<Statistic> before = bench.statistics();
  const NormTrace trace = bench.trace(x, NormMode::batch, bench.statistics());
  for (int64_t c = 0; c < kChannels; ++c) {
    double mean = before[0].value[c];
    double variance = before[1].value[c];
    for (int64_t step = 0; step < kSteps; ++step) {
      const Group all =
          group(bench, x, [&](int64_t s, int64_t, int64_t k) { return s == step && k == c; });
      expect_row(trace, step * kChannels + c, all.mean(), all.biased());
      mean = 0.9 * mean + 0.1 * all.mean();
      variance = 0.9 * variance + 0.1 * all.unbiased();
    }
    EXPECT_NEAR(bench.statistics()[0].value[c], mean, 1e-6);
    EXPECT_NEAR(bench.statistics()[1].value[c], variance, 1e-6);
  }
}

TEST_F(NormValues, BnTimeTakesAllStepsTogether) {
  NormBench bench("bn-time", kFirstStep, kSteps);
  const auto x = bench.numbers(bench.size(), 0.5, 2.0);
  const std::vector<Statistic> before = bench.statistics();
  const NormTrace trace = bench.trace(x, NormMode::batch, bench.statistics());
  for (int64_t c = 0; c < kChannels; ++c) {
    const Group all = group(bench, x, [&](int64_t, int64_t, int64_t k) { return k == c; });
    for (int64_t step = 0; step < kSteps; ++step) {
      expect_row(trace, step * kChannels + c, all.mean(), all.biased());
    }
    expect_followed(bench.statistics()[0].value[c], before[0].value[c], all.mean());
    expect_followed(bench.statistics()[1].value[c], before[1].value[c], all.unbiased());
  }
}

TEST_F(NormValues, LayerNormTakesEachImageAloneInBothModes) {
  NormBench bench("layer", kFirstStep, kSteps);
  const auto x = bench.numbers(bench.size(), 0.5, 2.0);
  for (const NormMode mode : {NormMode::batch, NormMode::running}) {
    const NormTrace trace = bench.trace(x, mode);
    ASSERT_EQ(trace.rows_per_step, bench.split().batch);
    for (int64_t step = 0; step < kSteps; ++step) {
      for (int64_t image = 0; image < bench.split().batch; ++image) {
        const Group all =
            group(bench, x, [&](int64_t s, int64_t b, int64_t) { return s == step && b == image; });
        for (int64_t c = 0; c < kChannels; ++c) {
          expect_row(trace, bench.trace_at(trace, step, image) + c, all.mean(), all.biased());
        }
      }
    }
  }
}

TEST_F(NormValues, EvaluationUsesTheRunningStatisticsOfTheRightStep) {
  for (const std::string kind : {"bntt", "bn", "bn-time"}) {
    NormBench bench(kind, kFirstStep, kSteps);
    const NormTrace trace = bench.trace(bench.numbers(bench.size(), 0.5, 2.0), NormMode::running);
    for (int64_t step = 0; step < kSteps; ++step) {
      for (int64_t c = 0; c < kChannels; ++c) {
        const int64_t row = kind == "bntt" ? kFirstStep + step : 0;
        expect_row(trace, step * kChannels + c, bench.statistics()[0].value[row * kChannels + c],
                   bench.statistics()[1].value[row * kChannels + c]);
      }
    }
  }
}

TEST_F(NormValues, OneSampleLeavesFiniteStatistics) {
  const auto norm = make_norm({.kind = "bntt"}, {});
  RowMoments moments{{1, 1, 1, 1, 1}, Buffer<float>(1), Buffer<float>(1)};
  moments.mean.fill(3.0F);
  moments.squared_deviations.fill(0.0F);
  std::vector<Statistic> statistics = {{"running_mean", {1, 1}, Buffer<float>::zeros(1)},
                                       {"running_var", {1, 1}, Buffer<float>::zeros(1)}};
  const NormTrace trace = norm->from_batch(moments, 0, statistics);
  EXPECT_NEAR(trace.inverse_deviation[0], 100.0F, 1e-3);
  EXPECT_EQ(statistics[1].value[0], 0.0F);
}

// Currents 0, 1, 2, 3 with θ = 0.5 and ε = 1e-5.
TEST_F(NormValues, TdbnOnPaper) {
  for (const int64_t branches : {1, 2}) {
    const auto norm = make_norm({.kind = "tdbn", .epsilon = 1e-5F, .momentum = 1.0F},
                                {.threshold = 0.5F, .branches = branches});
    RowMoments moments{{1, 4, 1, 1, 4}, Buffer<float>(1), Buffer<float>(1)};
    moments.mean.fill(1.5F);
    moments.squared_deviations.fill(5.0F);
    std::vector<Statistic> statistics = {{"running_mean", {1}, Buffer<float>::zeros(1)},
                                         {"running_var", {1}, Buffer<float>::zeros(1)}};
    const std::vector<Parameter> parameters = {{.name = "weight", .value = ones()}};
    NormTrace trace = norm->from_batch(moments, 0, statistics);
    norm->fold(0, parameters, 1.0F, trace);
    const auto y = [&](float x) { return x * trace.scale[0] + trace.shift[0]; };
    EXPECT_NEAR(y(0.0F), branches == 1 ? -0.6708F : -0.4743F, 1e-4);
    EXPECT_NEAR(y(2.0F), branches == 1 ? 0.2236F : 0.1581F, 1e-4);
    EXPECT_NEAR(statistics[1].value[0], 5.0F / 3.0F, 1e-6);
  }
}

}  // namespace
}  // namespace bntt
