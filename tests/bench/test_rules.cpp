#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyse/batch_inference.h"
#include "bench/rules.h"
#include "small_workload.h"

namespace bntt::bench {
namespace {

using ::testing::ElementsAre;

// Five steps, of which the propagation of a spike takes none.
TEST(BandWindows, MoveFromTheFirstStepsToTheLast) {
  const Workload workload = testing::small_workload();
  const StepWindows windows = band_windows(workload.network, 0.4);
  const std::size_t stages = workload.network.stages().size();
  ASSERT_EQ(windows.active.size(), stages);
  EXPECT_THAT(windows.active.front(), ElementsAre(true, true, false, false, false));
  EXPECT_THAT(windows.active[stages - 2], ElementsAre(false, false, false, true, true));
  EXPECT_THAT(windows.active.back(), ElementsAre(true, true, true, true, true)) << "the readout";
}

TEST(BandWindows, LeaveTheShareOfTheWork) {
  Workload workload = testing::small_workload();
  const StepWindows windows = band_windows(workload.network, 0.4);
  EXPECT_THAT(working_shares(workload, windows), ElementsAre(0.4, 0.4, 0.4, 0.4, 1.0));
  EXPECT_THAT(working_shares(workload, closed_windows(workload.network)), ::testing::Each(0.0));
  workload.encoder.kind = EncoderKind::direct;
  EXPECT_EQ(working_shares(workload, windows).front(), 1.0) << "it works once";
}

TEST(ExitLimit, LetsImagesLeaveAfterTheShareOfTheSteps) {
  const Workload workload = testing::small_workload();
  const InferenceOptions options{.sample_exit = SampleExit::confidence,
                                 .limit = exit_limit(workload, workload.images, 0.6)};
  BatchInference inference(workload.network, workload.encoder, kSeed, options);
  const BatchAnswers answers = inference.run(workload.images);
  double steps = 0.0;
  for (const int64_t taken : answers.steps_taken) steps += static_cast<double>(taken);
  EXPECT_LE(steps / 8.0, 3.0);
  EXPECT_GT(steps / 8.0, 1.0);
}

}  // namespace
}  // namespace bntt::bench
