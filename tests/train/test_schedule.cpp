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

TEST(Schedule, ConstantIgnoresTheDrops) {
  TrainConfig train;
  train.epochs = 10;
  train.schedule = "constant";
  for (const int64_t step : {0, 50, 99}) EXPECT_EQ(learning_rate_at(train, step, 10), 0.3);
}

// cos 0, π/4, π/2, 3π/4 of the way.
TEST(Schedule, CosineFallsToTheFinalRate) {
  TrainConfig train;
  train.epochs = 8;
  train.schedule = "cosine";
  train.learning_rate = 1.0;
  EXPECT_DOUBLE_EQ(learning_rate_at(train, 0, 10), 1.0);
  EXPECT_NEAR(learning_rate_at(train, 20, 10), 0.853553, 1e-6);
  EXPECT_NEAR(learning_rate_at(train, 40, 10), 0.5, 1e-12);
  EXPECT_NEAR(learning_rate_at(train, 60, 10), 0.146447, 1e-6);
  train.final_learning_rate = 0.2;
  EXPECT_NEAR(learning_rate_at(train, 40, 10), 0.6, 1e-12);
  EXPECT_NEAR(learning_rate_at(train, 79, 10), 0.2, 1e-3);
}

TEST(Schedule, CosineWithAShortPeriodComesBack) {
  TrainConfig train;
  train.epochs = 8;
  train.schedule = "cosine";
  train.learning_rate = 1.0;
  train.cosine_epochs = 2.0;
  EXPECT_NEAR(learning_rate_at(train, 20, 10), 0.0, 1e-12);
  EXPECT_NEAR(learning_rate_at(train, 30, 10), 0.5, 1e-12);
  EXPECT_NEAR(learning_rate_at(train, 40, 10), 1.0, 1e-12);
}

TEST(Schedule, CosineBeginsAfterTheWarmUp) {
  TrainConfig train;
  train.epochs = 9;
  train.schedule = "cosine";
  train.learning_rate = 1.0;
  train.warmup_epochs = 1.0;
  EXPECT_NEAR(learning_rate_at(train, 0, 10), 0.1, 1e-12);
  EXPECT_NEAR(learning_rate_at(train, 9, 10), 1.0, 1e-12);
  EXPECT_NEAR(learning_rate_at(train, 10, 10), 1.0, 1e-12);
  EXPECT_NEAR(learning_rate_at(train, 50, 10), 0.5, 1e-12);
}

// PyTorch's OneCycleLR(max_lr=1, total_steps=20) without a cycle of the momentum.
TEST(Schedule, OneCycleIsPytorchs) {
  TrainConfig train;
  train.epochs = 2;
  train.schedule = "one-cycle";
  train.learning_rate = 1.0;
  const std::vector<double> expected = {0.04,      0.1316718, 0.3716718,  0.6683282,  0.9083282,
                                        1,         0.987464,  0.9504846,  0.8909162,  0.8117457,
                                        0.716943,  0.611262,  0.500002,   0.388742,   0.283061,
                                        0.1882583, 0.1090878, 0.04951937, 0.01253999, 4e-06};
  for (std::size_t step = 0; step < expected.size(); ++step) {
    EXPECT_NEAR(learning_rate_at(train, static_cast<int64_t>(step), 10), expected[step], 1e-6)
        << step;
  }
}

TEST(Schedule, OneCycleOfFewStepsIsFinite) {
  TrainConfig train;
  train.epochs = 1;
  train.schedule = "one-cycle";
  for (const int64_t steps : {1, 2, 3, 4}) {
    for (int64_t step = 0; step < steps; ++step) {
      const double rate = learning_rate_at(train, step, steps);
      EXPECT_TRUE(rate > 0.0 && rate <= 0.3) << steps << " " << step << " " << rate;
    }
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
