#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "driven.h"

namespace bntt {
namespace {

using testing::Driven;
using ::testing::ElementsAre;
using testing::first_parameters;
using testing::stage_of;

std::vector<int> spikes_of(const NeuronSpec& spec, float current, int64_t steps) {
  const auto neurons = make_neurons(stage_of(spec), Propagation::instant);
  const auto parameters = first_parameters(*neurons);
  Driven driven(steps, 1);
  driven.current.fill(current);
  float carry = 0.0F;
  const Signal output = neurons->forward(driven.input(*neurons, parameters), parameters, &carry);
  std::vector<int> spikes;
  for (int64_t step = 0; step < steps; ++step) {
    spikes.push_back(static_cast<int>(std::get<SpikeTrain>(output).value(step, 0, 0, 0, 0)));
  }
  return spikes;
}

TEST(Neurons, EveryKindOfTheTableIsMade) {
  for (const NeuronEntry& entry : neuron_table()) {
    const auto neurons =
        make_neurons(stage_of({.kind = entry.name, .leak = 0.5F}), Propagation::instant);
    EXPECT_EQ(neurons->dynamics(first_parameters(*neurons)).has_value(),
              neurons->state_size({1, 1, 1}) > 0)
        << entry.name;
  }
}

TEST(Neurons, IntegrateAndFireIgnoresTheLeak) {
  EXPECT_THAT(spikes_of({.kind = "if", .leak = 0.5F}, 0.4F, 6), ElementsAre(0, 0, 1, 0, 0, 1));
}

// Constant currents x for T = 100 steps: soft ⌊Tx/θ⌋ with >=, ⌈Tx/θ⌉ − 1 with >.
TEST(Neurons, FireAtTheThresholdOrOnlyAboveIt) {
  const auto count = [](float current, Reset reset, Fire fire) {
    const auto spikes = spikes_of({.kind = "if", .fire = fire, .reset = reset}, current, 100);
    return std::ranges::count(spikes, 1);
  };
  EXPECT_EQ(count(0.25F, Reset::soft, Fire::ge), 25);
  EXPECT_EQ(count(0.25F, Reset::soft, Fire::gt), 24);
  EXPECT_EQ(count(1.0F, Reset::soft, Fire::ge), 100);
  EXPECT_EQ(count(1.0F, Reset::soft, Fire::gt), 99);
  EXPECT_EQ(count(1.0F, Reset::hard, Fire::ge), 100);
  EXPECT_EQ(count(1.0F, Reset::hard, Fire::gt), 50);
}

// τ = 2 (a = 0), x = 1.2: v = 0.6, 0.9, 1.05 fires, and again.
TEST(Neurons, PlifOnPaper) {
  const NeuronSpec plif{.kind = "plif", .leak = 0.5F, .fire = Fire::ge, .reset = Reset::hard};
  const auto neurons = make_neurons(stage_of(plif), Propagation::instant);
  EXPECT_EQ(first_parameters(*neurons)[0].value[0], 0.0F);
  EXPECT_THAT(spikes_of(plif, 1.2F, 7), ElementsAre(0, 0, 1, 0, 0, 1, 0));
}

// Below the threshold the membrane is smooth in a: L = Σ w_t v_t, read off the surrogate of a very
// wide triangle, whose slope is alpha nearly everywhere.
TEST(Neurons, PlifsGradientIsTheFiniteDifference) {
  constexpr int64_t kSteps = 5;
  constexpr int64_t kChannels = 3;
  const NeuronSpec spec{.kind = "plif",
                        .leak = 0.7F,
                        .threshold = 100.0F,
                        .surrogate = {.alpha = 1.0F, .width = 1e9F}};
  const auto neurons = make_neurons(stage_of(spec, {kChannels, 1, 1}), Propagation::instant);
  auto parameters = first_parameters(*neurons);
  Driven driven(kSteps, kChannels);
  Buffer<float> arriving(kSteps * kChannels);
  for (int64_t i = 0; i < arriving.size(); ++i) {
    driven.current[i] = std::sin(static_cast<float>(3 * i + 1));
    arriving[i] = std::cos(static_cast<float>(i));
  }
  const auto loss = [&](double a) {
    const double k = 1.0 / (1.0 + std::exp(-a));
    double sum = 0.0;
    for (int64_t c = 0; c < kChannels; ++c) {
      double v = 0.0;
      for (int64_t step = 0; step < kSteps; ++step) {
        v += k * (driven.current[step * kChannels + c] - v);
        sum += arriving[step * kChannels + c] * v;
      }
    }
    return sum;
  };
  RowGradientSums sums{{kSteps, 1, 1, kChannels, 1},
                       Buffer<float>::zeros(kSteps * kChannels),
                       Buffer<float>::zeros(kSteps * kChannels)};
  Buffer<float> gradient(kSteps * kChannels);
  neurons->backward(driven.input(*neurons, parameters),
                    {{arriving.data()}, {.source = {kChannels, 1, 1}}}, parameters,
                    {gradient.data()}, sums);
  const double a = parameters[0].value[0];
  EXPECT_NEAR(parameters[0].gradient[0], (loss(a + 1e-4) - loss(a - 1e-4)) / 2e-4, 1e-4);
}

TEST(Neurons, NoneHandsItsCurrentOn) {
  const auto neurons = make_neurons(stage_of({.kind = "none"}, {2, 1, 1}), Propagation::instant);
  Driven driven(3, 2);
  for (int64_t i = 0; i < 6; ++i) driven.current[i] = static_cast<float>(i) - 2.5F;
  const Signal output = neurons->forward(driven.input(*neurons, {}), {}, nullptr);
  EXPECT_TRUE(std::ranges::equal(std::get<DenseTrain>(output).values, driven.current));
}

}  // namespace
}  // namespace bntt
