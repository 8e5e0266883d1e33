#include <gtest/gtest.h>

#include "kernels/dynamics.h"

namespace bntt::kernels {
namespace {

TEST(Dynamics, CarryIsThatOfTheEquations) {
  const auto carried = [](Reset reset, Propagation propagation, float v, bool fired) {
    return dynamics_of({.leak = 0.5F, .threshold = 2.0F, .reset = reset}, propagation)
        .carried(v, fired);
  };
  for (const Propagation propagation : {Propagation::instant, Propagation::delayed}) {
    EXPECT_EQ(carried(Reset::soft, propagation, 1.0F, false), 0.5F);
    EXPECT_EQ(carried(Reset::hard, propagation, 1.0F, false), 0.5F);
    EXPECT_EQ(carried(Reset::hard, propagation, 3.0F, true), 0.0F);
  }
  EXPECT_EQ(carried(Reset::soft, Propagation::instant, 3.0F, true), 0.5F);
  EXPECT_EQ(carried(Reset::soft, Propagation::delayed, 3.0F, true), -0.5F);
}

TEST(Dynamics, IntegrateAndFireKeepsEverything) {
  const Dynamics dynamics = dynamics_of({.kind = "if", .leak = 0.5F}, Propagation::instant);
  EXPECT_EQ(dynamics.carried(0.75F, false), 0.75F);
}

// The spike is 0 or 1, and the carry linear in it.
TEST(Dynamics, ResetSlopeIsWhatASpikeTakesFromTheCarry) {
  for (const Reset reset : {Reset::soft, Reset::hard}) {
    for (const Propagation propagation : {Propagation::instant, Propagation::delayed}) {
      const Dynamics dynamics =
          dynamics_of({.leak = 0.75F, .threshold = 1.5F, .reset = reset}, propagation);
      for (const float v : {-1.0F, 0.25F, 2.0F}) {
        EXPECT_EQ(dynamics.reset_slope(v), dynamics.carried(v, true) - dynamics.carried(v, false));
      }
    }
  }
}

TEST(Dynamics, GradientOfTheMembraneGoesThroughSpikeAndCarry) {
  NeuronSpec neuron{.leak = 0.5F,
                    .detach_reset = true,
                    .surrogate = {.kind = SurrogateKind::rectangle, .alpha = 0.25F}};
  const auto gradient = [&](float v) {
    return dynamics_of(neuron, Propagation::instant).membrane_gradient(v, 8.0F, 16.0F);
  };
  EXPECT_EQ(gradient(1.25F), 0.25F * 8.0F + 0.5F * 16.0F);
  EXPECT_EQ(gradient(1.75F), 0.5F * 16.0F) << "too far from the threshold";
  neuron.reset = Reset::hard;
  EXPECT_EQ(gradient(0.75F), 0.25F * 8.0F + 0.5F * 16.0F);
  EXPECT_EQ(gradient(1.25F), 0.25F * 8.0F) << "a spike clears the carry";
  neuron.detach_reset = false;
  EXPECT_EQ(gradient(1.25F), 0.25F * (8.0F - 0.5F * 1.25F * 16.0F));
  neuron.reset = Reset::soft;
  EXPECT_EQ(gradient(1.25F), 0.25F * (8.0F - 0.5F * 16.0F) + 0.5F * 16.0F);
}

TEST(Dynamics, AnotherThresholdChangesAllThatFollowsFromIt) {
  const NeuronSpec neuron{.leak = 0.5F, .threshold = 1.0F};
  NeuronSpec other = neuron;
  other.threshold = 3.0F;
  const Dynamics replaced = dynamics_of(neuron, Propagation::instant).with_threshold(3.0F);
  const Dynamics expected = dynamics_of(other, Propagation::instant);
  for (const float v : {0.5F, 2.0F, 3.5F}) {
    EXPECT_EQ(replaced.fires(v), expected.fires(v));
    EXPECT_EQ(replaced.carried(v, true), expected.carried(v, true));
    EXPECT_EQ(replaced.spike_slope(v), expected.spike_slope(v));
  }
}

}  // namespace
}  // namespace bntt::kernels
