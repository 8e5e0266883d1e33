#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/dynamics.h"
#include "kernels/surrogates.h"

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

TEST(Dynamics, WhatIsLeftToLeakIsWhatIsCarriedButForADelayedReset) {
  for (const Reset reset : {Reset::soft, Reset::hard}) {
    const NeuronSpec neuron{.leak = 0.5F, .threshold = 2.0F, .reset = reset};
    const Dynamics instant = dynamics_of(neuron, Propagation::instant);
    const Dynamics delayed = dynamics_of(neuron, Propagation::delayed);
    for (const bool fired : {false, true}) {
      EXPECT_EQ(0.5F * instant.left_to_leak(3.0F, fired), instant.carried(3.0F, fired));
      const float drop = reset == Reset::soft && fired ? 2.0F : 0.0F;
      EXPECT_EQ(0.5F * delayed.left_to_leak(3.0F, fired) - drop, delayed.carried(3.0F, fired));
    }
  }
}

TEST(Dynamics, FireAboveOrAlsoAtTheThreshold) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float threshold : {0x1p-149F, 1e-40F, 1e-30F, 0.1F, 1.0F, 1.0F / 3.0F, 4096.0F, 1e38F,
                                std::numeric_limits<float>::max()}) {
    const float below = std::nextafter(threshold, -kInfinity);
    const float above = std::nextafter(threshold, kInfinity);
    for (const Propagation propagation : {Propagation::instant, Propagation::delayed}) {
      const Dynamics gt = dynamics_of({.threshold = threshold}, propagation);
      const Dynamics ge = dynamics_of({.threshold = threshold, .fire = Fire::ge}, propagation);
      for (const Dynamics& dynamics : {gt, ge, ge.with_threshold(2.0F).with_threshold(threshold)}) {
        EXPECT_FALSE(dynamics.fires(-kInfinity));
        EXPECT_FALSE(dynamics.fires(-threshold));
        EXPECT_FALSE(dynamics.fires(below));
        EXPECT_EQ(dynamics.fires(threshold), dynamics.fire == Fire::ge);
        EXPECT_TRUE(dynamics.fires(above));
        EXPECT_TRUE(dynamics.fires(kInfinity));
        EXPECT_FALSE(dynamics.fires(std::numeric_limits<float>::quiet_NaN()));
      }
      EXPECT_EQ(ge.carried(threshold, true), gt.carried(threshold, true))
          << "the reset takes the threshold away, not the number below it";
    }
  }
}

// Rathi's linear surrogate: 0.3 max(0, 1 − |v/θ − 1|)/θ.
TEST(Dynamics, SurrogatesMayHaveTheFactorOneOverTheThreshold) {
  const auto slope = [](float threshold, float v) {
    return dynamics_of(
               {.threshold = threshold, .surrogate = {.alpha = 0.3F, .per_threshold = true}},
               Propagation::delayed)
        .spike_slope(v);
  };
  EXPECT_FLOAT_EQ(slope(0.5F, 0.5F), 0.6F);
  EXPECT_FLOAT_EQ(slope(0.5F, 0.7F), 0.36F);
  EXPECT_FLOAT_EQ(slope(4.0F, 4.0F), 0.075F);
  const Dynamics moved =
      dynamics_of({.surrogate = {.alpha = 0.3F, .per_threshold = true}}, Propagation::delayed)
          .with_threshold(4.0F);
  EXPECT_FLOAT_EQ(moved.spike_slope(4.0F), 0.075F);
}

TEST(Dynamics, SurrogateIsAsWideAsItsWidth) {
  const auto slope = [](SurrogateKind kind, float width, float v) {
    return dynamics_of({.threshold = 2.0F, .surrogate = {kind, /*alpha=*/0.5F, width}},
                       Propagation::instant)
        .spike_slope(v, /*trace=*/0.5F);
  };
  // α where |v − θ| < width/2
  EXPECT_EQ(slope(SurrogateKind::rectangle, 1.0F, 1.5F), 0.0F);
  EXPECT_EQ(slope(SurrogateKind::rectangle, 1.0F, std::nextafter(1.5F, 2.0F)), 0.5F);
  EXPECT_EQ(slope(SurrogateKind::rectangle, 1.0F, std::nextafter(2.5F, 2.0F)), 0.5F);
  EXPECT_EQ(slope(SurrogateKind::rectangle, 1.0F, 2.5F), 0.0F);
  EXPECT_EQ(slope(SurrogateKind::triangle, 4.0F, 1.0F), 0.5F * 0.75F);
  EXPECT_EQ(slope(SurrogateKind::triangle, 4.0F, 6.5F), 0.0F);
  for (const auto& [kind, name, meaning] : kSurrogates) {
    SCOPED_TRACE(name);
    EXPECT_EQ(slope(kind, 0.25F, 2.0F), 0.5F) << "the height is α";
    // Twice as wide: the same slope at twice the distance.
    EXPECT_EQ(slope(kind, 1.0F, 2.25F), slope(kind, 2.0F, 2.5F));
    EXPECT_EQ(slope(kind, 0.0F, 2.75F), slope(kind, 2.0F, 2.75F)) << "0 means the threshold";
  }
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

/// Spikes of `steps` steps with one current, from rest.
int64_t spikes_of(const Dynamics& dynamics, const std::vector<float>& currents) {
  int64_t spikes = 0;
  float carry = 0.0F;
  for (const float current : currents) {
    const float v = dynamics.membrane(carry + current);
    const bool fired = dynamics.fires(v);
    carry = dynamics.carried(v, fired);
    spikes += fired ? 1 : 0;
  }
  return spikes;
}

// In whole numbers: θ = 10, no leak, 100 steps.
TEST(Dynamics, RatesOfConstantCurrents) {
  struct Row {
    float current;
    int64_t soft_ge, soft_gt, hard_ge, hard_gt;
  };
  for (const Row& row : {Row{3.0F, 30, 29, 25, 25}, Row{6.0F, 60, 59, 50, 50},
                         Row{7.0F, 70, 69, 50, 50}, Row{10.0F, 100, 99, 100, 50}}) {
    const auto spikes = [&](Reset reset, Fire fire) {
      return spikes_of(dynamics_of({.leak = 1.0F, .threshold = 10.0F, .fire = fire, .reset = reset},
                                   Propagation::instant),
                       std::vector<float>(100, row.current));
    };
    EXPECT_EQ(spikes(Reset::soft, Fire::ge), row.soft_ge) << row.current;
    EXPECT_EQ(spikes(Reset::soft, Fire::gt), row.soft_gt) << row.current;
    EXPECT_EQ(spikes(Reset::hard, Fire::ge), row.hard_ge) << row.current;
    EXPECT_EQ(spikes(Reset::hard, Fire::gt), row.hard_gt) << row.current;
  }
}

// ⌊T x/θ⌋ with ge, ⌈T x/θ⌉ − 1 with gt, for every whole current up to θ = 16.
TEST(Dynamics, SoftResetsRoundTheRateDown) {
  for (int64_t x = 0; x <= 16; ++x) {
    for (const int64_t steps : {1, 7, 100}) {
      const auto spikes = [&](Fire fire) {
        return spikes_of(
            dynamics_of({.leak = 1.0F, .threshold = 16.0F, .fire = fire}, Propagation::instant),
            std::vector<float>(static_cast<std::size_t>(steps), float(x)));
      };
      EXPECT_EQ(spikes(Fire::ge), steps * x / 16) << x;
      if (x > 0) {
        EXPECT_EQ(spikes(Fire::gt), (steps * x + 15) / 16 - 1) << x;
      }
    }
  }
}

// Σ x_t = θ N + u_T: a soft reset loses nothing, whatever the currents are.
TEST(Dynamics, SoftResetsKeepTheCharge) {
  const Dynamics dynamics =
      dynamics_of({.leak = 1.0F, .threshold = 8.0F, .fire = Fire::ge}, Propagation::instant);
  const auto charge = [&](const std::vector<float>& currents) {
    float carry = 0.0F;
    int64_t spikes = 0;
    float sum = 0.0F;
    for (const float current : currents) {
      const float v = dynamics.membrane(carry + current);
      carry = dynamics.carried(v, dynamics.fires(v));
      spikes += dynamics.fires(v) ? 1 : 0;
      sum += current;
    }
    EXPECT_EQ(sum, 8.0F * static_cast<float>(spikes) + carry);
    return std::pair(spikes, carry);
  };
  std::vector<float> currents;
  for (int i = 0; i < 200; ++i) currents.push_back(static_cast<float>(i * 37 % 31 - 12));
  EXPECT_GT(charge(currents).first, 10);
  // θ five times, then −θ five times: the mean is 0, and yet there are five spikes.
  currents.assign(5, 8.0F);
  currents.insert(currents.end(), 5, -8.0F);
  EXPECT_EQ(charge(currents), std::pair(int64_t{5}, -40.0F));
}

// The mean current is 0: a floor forgets what would have held the neuron back.
TEST(Dynamics, FloorForgetsWhatLiesBelowIt) {
  std::vector<float> currents(5, -1.0F);
  currents.insert(currents.end(), 5, 1.0F);
  NeuronSpec neuron{.leak = 1.0F, .fire = Fire::ge, .reset = Reset::hard};
  EXPECT_EQ(spikes_of(dynamics_of(neuron, Propagation::instant), currents), 0);
  neuron.floor = 0.0F;
  EXPECT_EQ(spikes_of(dynamics_of(neuron, Propagation::instant), currents), 5);
  neuron.floor = -2.0F;
  EXPECT_EQ(spikes_of(dynamics_of(neuron, Propagation::instant), currents), 3);
}

TEST(Dynamics, NoGradientAtTheFloor) {
  const Dynamics dynamics =
      dynamics_of({.leak = 0.5F, .floor = -1.0F, .surrogate = {.kind = SurrogateKind::arctan}},
                  Propagation::instant);
  EXPECT_EQ(dynamics.membrane(-3.0F), -1.0F);
  EXPECT_EQ(dynamics.membrane_gradient(-1.0F, 8.0F, 16.0F), 0.0F);
  EXPECT_GT(dynamics.membrane_gradient(-0.75F, 8.0F, 16.0F), 8.0F);
}

// 0.3 e^(−0.01 Δt), as Rathi et al. (2020) have it.
TEST(Dynamics, SpikeTimeSurrogateDecaysFromSpikeToSpike) {
  const auto slope = [](float threshold, int64_t steps_since_spike) {
    const Dynamics dynamics = dynamics_of(
        {.threshold = threshold,
         .surrogate = {.kind = SurrogateKind::stdb, .alpha = 0.3F, .per_threshold = true}},
        Propagation::delayed);
    float trace = dynamics.next_trace(dynamics.first_trace(), true);
    for (int64_t step = 1; step < steps_since_spike; ++step) {
      trace = dynamics.next_trace(trace, false);
    }
    return dynamics.spike_slope(/*v=*/5.0F, trace);
  };
  EXPECT_NEAR(slope(1.0F, 1), 0.29701F, 5e-6F);
  EXPECT_NEAR(slope(1.0F, 10), 0.27145F, 5e-6F);
  EXPECT_NEAR(slope(1.0F, 100), 0.11036F, 5e-6F);
  EXPECT_NEAR(slope(1.0F, 1000), 1.362e-5F, 5e-9F);
  EXPECT_FLOAT_EQ(slope(0.5F, 10), 2.0F * slope(1.0F, 10));
  const Dynamics silent = dynamics_of({.surrogate = {.kind = SurrogateKind::stdb, .alpha = 0.3F}},
                                      Propagation::delayed);
  EXPECT_NEAR(silent.first_trace(), 1.362e-5F, 5e-9F);
}

}  // namespace
}  // namespace bntt::kernels
