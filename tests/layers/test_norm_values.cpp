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
  const RunningStatistics before = bench.running();
  const NormTrace trace = bench.trace(x, NormMode::batch, bench.running());
  for (int64_t step = 0; step < kSteps; ++step) {
    for (int64_t c = 0; c < kChannels; ++c) {
      const Group all =
          group(bench, x, [&](int64_t s, int64_t, int64_t k) { return s == step && k == c; });
      expect_row(trace, step * kChannels + c, all.mean(), all.biased());
      const int64_t kept = (kFirstStep + step) * kChannels + c;
      expect_followed(bench.running().mean[kept], before.mean[kept], all.mean());
      expect_followed(bench.running().variance[kept], before.variance[kept], all.unbiased());
    }
  }
  for (int64_t c = 0; c < kChannels; ++c) {
    EXPECT_EQ(bench.running().mean[c], before.mean[c]) << "a step before the window moved";
  }
}

TEST_F(NormValues, BnSharesTheRunningStatisticsOfAllSteps) {
  NormBench bench("bn", kFirstStep, kSteps);
  const auto x = bench.numbers(bench.size(), 0.5, 2.0);
  const RunningStatistics before = bench.running();
  const NormTrace trace = bench.trace(x, NormMode::batch, bench.running());
  for (int64_t c = 0; c < kChannels; ++c) {
    double mean = before.mean[c];
    double variance = before.variance[c];
    for (int64_t step = 0; step < kSteps; ++step) {
      const Group all =
          group(bench, x, [&](int64_t s, int64_t, int64_t k) { return s == step && k == c; });
      expect_row(trace, step * kChannels + c, all.mean(), all.biased());
      mean = 0.9 * mean + 0.1 * all.mean();
      variance = 0.9 * variance + 0.1 * all.unbiased();
    }
    EXPECT_NEAR(bench.running().mean[c], mean, 1e-6);
    EXPECT_NEAR(bench.running().variance[c], variance, 1e-6);
  }
}

TEST_F(NormValues, BnTimeTakesAllStepsTogether) {
  NormBench bench("bn-time", kFirstStep, kSteps);
  const auto x = bench.numbers(bench.size(), 0.5, 2.0);
  const RunningStatistics before = bench.running();
  const NormTrace trace = bench.trace(x, NormMode::batch, bench.running());
  for (int64_t c = 0; c < kChannels; ++c) {
    const Group all = group(bench, x, [&](int64_t, int64_t, int64_t k) { return k == c; });
    for (int64_t step = 0; step < kSteps; ++step) {
      expect_row(trace, step * kChannels + c, all.mean(), all.biased());
    }
    expect_followed(bench.running().mean[c], before.mean[c], all.mean());
    expect_followed(bench.running().variance[c], before.variance[c], all.unbiased());
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
        expect_row(trace, step * kChannels + c, bench.running().mean[row * kChannels + c],
                   bench.running().variance[row * kChannels + c]);
      }
    }
  }
}

TEST_F(NormValues, OneSampleLeavesFiniteStatistics) {
  const auto norm = make_norm({.kind = "bntt"}, 1, 1);
  RowMoments moments{{1, 1, 1, 1, 1}, Buffer<float>(1), Buffer<float>(1)};
  moments.mean.fill(3.0F);
  moments.squared_deviations.fill(0.0F);
  RunningStatistics running{"n", 1, Buffer<float>::zeros(1), Buffer<float>::zeros(1)};
  const NormTrace trace = norm->from_batch(moments, 0, running);
  EXPECT_NEAR(trace.inverse_deviation[0], 100.0F, 1e-3);
  EXPECT_EQ(running.variance[0], 0.0F);
}

}  // namespace
}  // namespace bntt
