#include <gtest/gtest.h>

#include "bench/stage_cost.h"
#include "layers/loss.h"
#include "small_workload.h"

namespace bntt::bench {
namespace {

Trace run_training(Workload& workload) {
  Trace trace = workload.network.forward(
      encode(workload.images, active_steps(workload.network.spec()), workload.encoder, kSeed, 0),
      NormMode::batch);
  const Loss loss = cross_entropy(trace.logits, workload.images.labels);
  workload.network.backward(trace, loss.gradient);
  return trace;
}

TEST(StageClock, SeesEveryStageWhileItRuns) {
  Workload workload = testing::small_workload();
  const StageClock outer;
  std::size_t seen = 0;
  {
    const StageClock clock;
    run_training(workload);
    seen = clock.seconds().size();
  }
  EXPECT_EQ(seen, workload.network.stages().size());
  EXPECT_TRUE(outer.seconds().empty());
  run_training(workload);
  EXPECT_EQ(outer.seconds().size(), seen);
}

TEST(StageCosts, CountTheWorkOfEveryPhase) {
  Workload workload = testing::small_workload();
  const StageClock clock;
  const Trace trace = run_training(workload);
  const int64_t images = workload.images.size();
  const auto costs = stage_costs(workload.network, clock.seconds(),
                                 density_of(workload.network, trace), trace.input, images);
  ASSERT_EQ(costs.size(), 5U);
  EXPECT_EQ(costs[0].phases.size(), 4U);  // nobody wants the gradient at the input
  EXPECT_EQ(costs[1].phases.size(), 5U);
  const StagePlan& plan = workload.network.stages()[1];
  const PhaseCost& forward = costs[1].phases[0];
  EXPECT_EQ(forward.name, "synapse forward");
  EXPECT_DOUBLE_EQ(forward.dense_flops, 2.0 * static_cast<double>(plan.macs * images * 5));
  EXPECT_DOUBLE_EQ(costs[1].input_density, costs[0].density);
  EXPECT_EQ(costs[4].density, 0.0);  // the readout does not fire
}

TEST(Bound, IsTheLongerOfComputingAndMoving) {
  const Machine machine{.flops = 100.0, .bytes_per_second = 10.0};
  const Bound compute = bound_of({.seconds = 4.0, .needed_flops = 200.0, .bytes = 10.0}, machine);
  EXPECT_TRUE(compute.compute);
  EXPECT_DOUBLE_EQ(compute.of_peak, 0.5);
  const Bound bandwidth = bound_of({.seconds = 4.0, .needed_flops = 10.0, .bytes = 10.0}, machine);
  EXPECT_FALSE(bandwidth.compute);
  EXPECT_DOUBLE_EQ(bandwidth.of_peak, 0.25);
}

}  // namespace
}  // namespace bntt::bench
