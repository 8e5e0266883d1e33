#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/time_budget.h"

namespace bntt {
namespace {

/// A training of 4 epochs of 10 steps that has loaded its data for 20 seconds.
class Budgets : public ::testing::Test {
 protected:
  TimeBudget budget(double limit) {
    return {limit, [this] { return TimeSpent{.seconds = now_}; }, 60, 10};
  }
  /// The sentences of a whole training: a step takes 2 seconds, a validation 5.
  std::vector<std::string> sentences(double limit, int64_t steps_per_epoch = 10) {
    TimeBudget watched = budget(limit);
    std::vector<std::string> said;
    const auto hear = [&](const std::optional<std::string>& sentence) {
      if (sentence) said.push_back(*sentence);
    };
    StepReport report{.epochs = 4, .batches = steps_per_epoch};
    for (report.epoch = 1; report.epoch <= 4; ++report.epoch) {
      for (report.batch = 1; report.batch <= steps_per_epoch; ++report.batch) {
        now_ += 2.0;
        hear(watched.after_step(report));
      }
      now_ += 5.0;
      hear(watched.after_epoch());
    }
    EXPECT_DOUBLE_EQ(now_, 20.0 + 4.0 * (2.0 * static_cast<double>(steps_per_epoch) + 5.0));
    return said;
  }

  double now_ = 20.0;
};

TEST_F(Budgets, CountLoadingStepsAndValidation) {
  const StepReport report{.epoch = 2, .epochs = 4, .batch = 4, .batches = 10};
  // 2 epochs after this one; it has 6 steps left.
  const TrainingPace pace{.seconds_per_step = 2.0, .seconds_per_validation = 5.0};
  const BudgetEstimate whole = estimate_budget(report, pace, 53.0, 1000.0);
  EXPECT_DOUBLE_EQ(whole.seconds, 53.0 + 12.0 + 5.0 + 2 * 25.0);
  EXPECT_EQ(whole.epochs, 4);
  EXPECT_TRUE(whole.fits);
  EXPECT_TRUE(estimate_budget(report, pace, 53.0, 120.0).fits);
  const BudgetEstimate short_of_one = estimate_budget(report, pace, 53.0, 119.9);
  EXPECT_EQ(short_of_one.epochs, 3);
  EXPECT_FALSE(short_of_one.fits);
  EXPECT_EQ(estimate_budget(report, pace, 53.0, 60.0).epochs, 1) << "done before";
}

TEST_F(Budgets, OfAShortEpochAreToldAfterItsValidation) {
  EXPECT_THAT(sentences(180.0),
              ::testing::ElementsAre("4 epochs will take about 2 minutes of this command and fit "
                                     "into 3 minutes"));
}

TEST_F(Budgets, OfALongEpochAreToldAfterItsFirstStepsAndOnceMore) {
  // The first guess of a validation is 6 batches at a third of 2 seconds.
  EXPECT_THAT(sentences(900.0, 100),
              ::testing::ElementsAre(
                  "4 epochs will take about 14 minutes of this command and fit into 15 minutes",
                  "4 epochs will take about 14 minutes of this command and fit into 15 minutes"));
}

TEST_F(Budgets, SayHowManyEpochsFit) {
  EXPECT_THAT(
      sentences(75.0).back(),
      ::testing::HasSubstr("about 2 minutes of this command: 2 epochs fit into 1.2 minutes; "
                           "the schedule is that of 4 epochs all the same (see --epochs)"));
  now_ = 20.0;
  EXPECT_THAT(sentences(30.0).back(), ::testing::HasSubstr("not even one epoch fits into 0.5"));
}

TEST_F(Budgets, AreOverWhenTheClockSaysSo) {
  const TimeBudget watched = budget(60.0);
  EXPECT_FALSE(watched.over());
  now_ = 60.1;
  EXPECT_TRUE(watched.over());
}

}  // namespace
}  // namespace bntt
