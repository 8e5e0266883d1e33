#include <gtest/gtest.h>

#include <algorithm>

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

TEST(DensityFinder, NetworksWithoutGammaCannotBeScaled) {
  EXPECT_TRUE(testing::small_workload().network.gain(0) != nullptr);
  for (const char* name : {"vgg5", "resnet20"}) {
    Workload workload = testing::small_workload(name, {.kind = "none"});
    EXPECT_FALSE(DensityFinder(workload, Kind::train, 8).scales()) << name;
  }
}

TEST(DensityFinder, RefusesAnns) {
  Workload workload = testing::small_workload();
  workload.network = Network(
      vgg5({.input = workload.images.shape, .steps = 1, .width = 0.1, .neuron = {.kind = "relu"}}),
      1);
  EXPECT_THROW(DensityFinder(workload, Kind::train, 8), Error);
}

// Some of their stages have no γ: resnet19's fully connected one, and those that read the current
// of ms-resnet18.
class ResidualDensity : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Networks, ResidualDensity,
                         ::testing::Values("resnet19", "resnet20", "sew-resnet18", "ms-resnet18"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(ResidualDensity, IsReachedByTheStagesThatHaveGamma) {
  const double width = GetParam() == std::string("resnet20") ? 0.2 : 0.04;
  Workload workload = testing::small_workload(GetParam(), {.momentum = 1.0F}, width);
  DensityFinder finder(workload, Kind::infer, workload.images.size());
  ASSERT_TRUE(finder.scales());
  finder.reach(0.1);
  ChainState state = workload.network.start(workload.images.size());
  Activity activity;
  workload.network.advance(input_of(workload), state, &activity);
  EXPECT_NEAR(density_of(workload.network, activity).mean, 0.1, 0.01);
}

TEST_P(ResidualDensity, OneBatchCalibratesEveryBranch) {
  const Workload workload =
      make_workload({.model = GetParam(), .steps = 2, .width = 0.02, .images = 2});
  for (const StagePlan& plan : workload.network.stages()) {
    for (const BranchPlan& branch : plan.branches) {
      EXPECT_EQ(branch.norm.momentum, 1.0F) << branch.name;
    }
  }
}

}  // namespace
}  // namespace bntt::bench
