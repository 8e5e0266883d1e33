#include <gtest/gtest.h>

#include <cmath>

#include "train/schedule.h"

namespace bntt {
namespace {

/// The first step after each drop, found by walking the run.
std::vector<int64_t> drop_steps(const TrainConfig& train, int64_t steps_per_epoch) {
  std::vector<int64_t> drops;
  double before = learning_rate_at(train, 0, steps_per_epoch);
  for (int64_t step = 1; step < train.epochs * steps_per_epoch; ++step) {
    const double rate = learning_rate_at(train, step, steps_per_epoch);
    if (rate != before) {
      EXPECT_NEAR(rate / before, 0.1, 1e-12) << "step " << step;
      drops.push_back(step);
    }
    before = rate;
  }
  return drops;
}

TEST(Schedule, DropsThreeTimesForEveryEpochCount) {
  for (const int64_t epochs : {1, 3, 7, 10, 100, 120, 240}) {
    constexpr int64_t kStepsPerEpoch = 20;
    TrainConfig train;
    train.epochs = epochs;
    const auto all = static_cast<double>(epochs * kStepsPerEpoch);
    const std::vector<int64_t> expected = {static_cast<int64_t>(std::ceil(0.5 * all - 1e-9)),
                                           static_cast<int64_t>(std::ceil(0.7 * all - 1e-9)),
                                           static_cast<int64_t>(std::ceil(0.9 * all - 1e-9))};
    EXPECT_EQ(drop_steps(train, kStepsPerEpoch), expected) << epochs << " epochs";
  }
}

TEST(Schedule, StartsAtTheBaseRateAndEndsAThousandthOfIt) {
  TrainConfig train;
  train.epochs = 10;
  EXPECT_DOUBLE_EQ(learning_rate_at(train, 0, 100), 0.3);
  EXPECT_NEAR(learning_rate_at(train, 999, 100), 0.3e-3, 1e-15);
}

TEST(Schedule, WithoutDropsIsConstant) {
  TrainConfig train;
  train.epochs = 4;
  train.drops = {};
  for (int64_t step = 0; step < 40; ++step) EXPECT_EQ(learning_rate_at(train, step, 10), 0.3);
}

// What an extended run is told: each stretch begins where a walk over the steps meets a new rate.
TEST(Schedule, RatesFromAPositionAreThoseOfItsSteps) {
  for (const int64_t epochs : {1, 3, 7, 40}) {
    constexpr int64_t kStepsPerEpoch = 13;
    TrainConfig train;
    train.epochs = epochs;
    for (const int64_t from : {int64_t{0}, 5 * epochs, 11 * epochs}) {
      std::vector<std::pair<int64_t, double>> walked;
      for (int64_t step = from; step < epochs * kStepsPerEpoch; ++step) {
        const double rate = learning_rate_at(train, step, kStepsPerEpoch);
        if (walked.empty() || walked.back().second != rate) walked.emplace_back(step, rate);
      }
      std::vector<std::pair<int64_t, double>> told;
      for (const RateStretch& stretch : rates_from(train, from, kStepsPerEpoch)) {
        told.emplace_back(stretch.first_step, stretch.learning_rate);
      }
      EXPECT_EQ(told, walked) << epochs << " epochs from step " << from;
    }
    EXPECT_TRUE(rates_from(train, epochs * kStepsPerEpoch, kStepsPerEpoch).empty());
  }
}

TEST(Schedule, WarmsUpLinearly) {
  TrainConfig train;
  train.epochs = 10;
  train.warmup_epochs = 0.5;
  EXPECT_NEAR(learning_rate_at(train, 0, 8), 0.3 * 1 / 4, 1e-12);
  EXPECT_NEAR(learning_rate_at(train, 2, 8), 0.3 * 3 / 4, 1e-12);
  EXPECT_NEAR(learning_rate_at(train, 3, 8), 0.3, 1e-12);
  EXPECT_NEAR(learning_rate_at(train, 20, 8), 0.3, 1e-12);
}

}  // namespace
}  // namespace bntt
