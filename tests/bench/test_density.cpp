#include <gtest/gtest.h>

#include "bench/density.h"
#include "bntt/error.h"
#include "small_workload.h"

namespace bntt::bench {
namespace {

Signal input_of(const Workload& workload) {
  return encode(workload.images, active_steps(workload.network.spec()), workload.encoder, kSeed,
                kEvaluationEpoch);
}

TEST(DensityFinder, ReachesEveryDensityInTheTrainingForm) {
  Workload workload = testing::small_workload();
  DensityFinder finder(workload, Kind::train, workload.images.size());
  for (const double wanted : {0.25, 0.02, 0.10}) {
    finder.reach(wanted);
    const Trace trace = workload.network.forward(input_of(workload), NormMode::batch);
    EXPECT_NEAR(density_of(workload.network, trace).mean, wanted, 0.1 * wanted);
  }
}

TEST(DensityFinder, ReachesItInInferenceInEveryStage) {
  Workload workload = testing::small_workload();
  DensityFinder(workload, Kind::infer, workload.images.size()).reach(0.1);
  ChainState state = workload.network.start(workload.images.size());
  Activity activity;
  workload.network.advance(input_of(workload), state, &activity);
  const Density density = density_of(workload.network, activity);
  EXPECT_NEAR(density.mean, 0.1, 0.01);
  ASSERT_EQ(density.stages.size(), 4U);
  for (const double stage : density.stages) EXPECT_GT(stage, 0.01);
}

TEST(DensityFinder, SaysWhenScalingGammaCannotDoIt) {
  Workload workload = testing::small_workload();
  DensityFinder finder(workload, Kind::train, workload.images.size());
  EXPECT_THROW(finder.reach(0.95), Error);
}

TEST(DensityFinder, RefusesNetworksWithoutGamma) {
  Workload workload = testing::small_workload();
  workload.network = Network(
      vgg5({.input = workload.images.shape, .steps = 5, .width = 0.1, .norm = {.kind = "none"}}),
      1);
  EXPECT_THROW(DensityFinder(workload, Kind::train, 8), Error);
}

}  // namespace
}  // namespace bntt::bench
