#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyse/exit_rule.h"
#include "paper_network.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::PaperNetwork;

TEST(ExitRule, MeansOfGainAreThoseOnPaper) {
  const PaperNetwork paper;
  const GainMeans means = gain_means(paper.network);
  EXPECT_THAT(means.signed_mean[0], ElementsAre(2.0, 0.75, 0.0, 0.0625));
  EXPECT_THAT(means.magnitude[0], ElementsAre(2.0, 0.75, 0.25, 0.0625));
  EXPECT_THAT(means.signed_mean[1], ElementsAre(1.0, 0.5, 0.5, 0.125));
  EXPECT_THAT(means.signed_mean[2], IsEmpty());
}

TEST(ExitRule, StopsOnceEveryLaterMeanIsBelowTheThreshold) {
  const PaperNetwork paper;
  EXPECT_EQ(exit_step(paper.network, 0.0), 4);
  EXPECT_EQ(exit_step(paper.network, 0.125), 4) << "0.125 is not below 0.125";
  EXPECT_EQ(exit_step(paper.network, 0.126), 3);
  EXPECT_EQ(exit_step(paper.network, 0.5), 3);
  EXPECT_EQ(exit_step(paper.network, 0.75), 2);
  EXPECT_EQ(exit_step(paper.network, 0.76), 1);
  EXPECT_EQ(exit_step(paper.network, 100.0), 1) << "the first step is always taken";
}

TEST(ExitRule, IntervalsNameEveryExitAndARoundThreshold) {
  const PaperNetwork paper;
  const std::vector<ExitInterval> intervals = exit_intervals(paper.network);
  ASSERT_EQ(intervals.size(), 4U);
  const std::vector<double> thresholds = {0.0, 0.2, 0.6, 0.8};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(intervals[i].exit_step, 4 - static_cast<int64_t>(i));
    EXPECT_EQ(intervals[i].threshold, thresholds[i]);
    EXPECT_EQ(exit_step(paper.network, intervals[i].threshold), intervals[i].exit_step);
  }
  EXPECT_FALSE(intervals[0].above.has_value());
  EXPECT_EQ(intervals[0].up_to, 0.125);
  EXPECT_EQ(intervals[1].above, 0.125);
  EXPECT_EQ(intervals[3].above, 0.75);
  EXPECT_FALSE(intervals[3].up_to.has_value());
}

TEST(ExitRule, RoundestThresholdHasAsManyDecimalsAsItNeeds) {
  EXPECT_EQ(roundest_threshold(0.123, 0.129), 0.124);
  EXPECT_EQ(roundest_threshold(0.1, 0.2), 0.2);
  EXPECT_EQ(roundest_threshold(0.31, std::nullopt), 0.4);
  EXPECT_EQ(roundest_threshold(std::nullopt, 0.3), 0.0);
  EXPECT_EQ(roundest_threshold(std::nullopt, -0.3), -0.3);
  EXPECT_GT(roundest_threshold(1e30, std::nullopt), 1e30);
}

TEST(ExitRule, WindowsLeaveOutStepsOfSmallMagnitude) {
  const PaperNetwork paper;
  const StepWindows windows = layer_windows(paper.network, 0.25);
  EXPECT_THAT(windows.active[0], ElementsAre(true, true, true, false)) << "|γ| counts, not γ";
  EXPECT_THAT(windows.active[1], ElementsAre(true, true, true, false));
  EXPECT_THAT(windows.active[2], ElementsAre(true, true, true, true));
}

NetworkSpec two_hidden(Propagation propagation, std::string norm) {
  return {.input = {1, 2, 2},
          .steps = 5,
          .propagation = propagation,
          .stages = {Dense{.features = 3, .norm = {.kind = norm}},
                     Dense{.features = 3, .norm = {.kind = norm}}, Readout{.classes = 2}}};
}

TEST(ExitRule, StepsThatCannotReachTheReadoutAreNotAsked) {
  Network network(two_hidden(Propagation::delayed, "bntt"), 1);
  // Stage 1 works at the steps 1 to 3, stage 2 at 2 to 4; every gain is 1. Only γ of steps that
  // lead nowhere is left after step 4.
  EXPECT_EQ(exit_step(network, 0.5), 4);
  EXPECT_EQ(exit_step(network, 2.0), 3) << "the readout sees nothing before step 3";
}

TEST(ExitRule, NothingToGoByWithoutGainsPerStep) {
  const Network network(two_hidden(Propagation::instant, "bn"), 1);
  EXPECT_FALSE(has_step_gains(network));
  EXPECT_THAT(exit_intervals(network), IsEmpty());
}

}  // namespace
}  // namespace bntt
