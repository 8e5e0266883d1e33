#include <gtest/gtest.h>

#include "bench/parallelism.h"

namespace bntt::bench {
namespace {

// 100 items of 1 ms, then 4 of 10 ms, and 5 ms between them.
TEST(Parallelism, OnPaper) {
  const std::vector<LoopSeconds> loops = {LoopSeconds(100, 0.001), LoopSeconds(4, 0.010)};
  const PhaseParallelism found = parallelism_of(loops, 0.145);
  EXPECT_NEAR(found.serial_seconds, 0.005, 1e-12);
  EXPECT_EQ(found.items, 100) << "of the loop that takes longest";
  EXPECT_EQ(found.longest_seconds, 0.010);
  EXPECT_NEAR(found.speedups[0], 0.145 / (0.005 + 0.1 / 8 + 0.010), 1e-9);
  EXPECT_NEAR(found.speedups[3], 0.145 / (0.005 + 0.1 / 64 + 0.010), 1e-9);
  EXPECT_FALSE(found.divides_well()) << "an item takes more than 1/32";
}

TEST(Parallelism, DividesWellIntoManyShortItems) {
  EXPECT_TRUE(parallelism_of({LoopSeconds(64, 0.001)}, 0.064).divides_well());
  EXPECT_FALSE(parallelism_of({LoopSeconds(63, 0.001)}, 0.063).divides_well());
  EXPECT_FALSE(parallelism_of({}, 0.001).divides_well()) << "serial";
  EXPECT_TRUE(parallelism_of({}, 0.00004).divides_well()) << "not worth dividing";
}

TEST(Parallelism, OfANetworkAddsUp) {
  for (const Kind kind : {Kind::train, Kind::infer}) {
    const Parallelism found =
        measure_parallelism({.kind = kind,
                             .workload = {.model = "vgg5", .steps = 3, .width = 0.1, .data = ""},
                             .batch = 4,
                             .density = 0.15,
                             .repeats = 1});
    double seconds = 0.0;
    for (const PhaseParallelism& phase : found.phases) {
      seconds += phase.seconds;
      for (const double speedup : phase.speedups) EXPECT_GE(speedup, 1.0 - 1e-9) << phase.stage;
    }
    EXPECT_NEAR(seconds, found.whole.seconds, 1e-9);
    EXPECT_GE(found.phases.size(), 5U);
    EXPECT_GE(found.whole.speedups[3], found.whole.speedups[0]);
  }
}

}  // namespace
}  // namespace bntt::bench
