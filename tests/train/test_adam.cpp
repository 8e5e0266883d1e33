#include <gtest/gtest.h>

#include <cmath>

#include "bntt/error.h"
#include "learn/adam.h"
#include "small_networks.h"

namespace bntt {
namespace {

using testing::small_vgg5;

void set_all(Network& network, float value, float gradient) {
  for (Parameter& parameter : network.parameters()) {
    parameter.value.fill(value);
    parameter.gradient = Buffer<float>(parameter.value.size());
    parameter.gradient.fill(gradient);
  }
}

void set_gradients(Network& network, float gradient) {
  for (Parameter& parameter : network.parameters()) parameter.gradient.fill(gradient);
}

void expect_all(const Network& network, double expected) {
  for (const Parameter& parameter : network.parameters()) {
    for (const float value : parameter.value) ASSERT_NEAR(value, expected, 1e-6) << parameter.name;
  }
}

// Whatever its size, a constant gradient moves the values by the learning rate, but for ε: m̂ = g
// and √ŝ = |g|.
TEST(Adam, MovesByTheLearningRateUnderAConstantGradient) {
  for (const float gradient : {1e-3F, 0.5F, 40.0F}) {
    Network network = small_vgg5();
    set_all(network, 2.0F, gradient);
    Adam adam(network, {.weight_decay = 0.0});
    for (int step = 1; step <= 5; ++step) {
      adam.step(network, 0.1);
      expect_all(network, 2.0 - 0.1 * step * gradient / (gradient + 1e-8));
    }
    EXPECT_EQ(adam.steps_done(), 5);
  }
}

// g = 0.5 + 0.1·2 = 0.7: m̂ = 0.7, ŝ = 0.49, w = 1.9. Then g = 0.69: m = 0.9·0.07 + 0.069 = 0.132,
// s = 0.999·0.00049 + 0.0004761 = 0.00096561: m̂ = 0.132/0.19, ŝ = 0.00096561/0.001999.
TEST(Adam, AddsTheDecayToTheGradient) {
  Network network = small_vgg5();
  set_all(network, 2.0F, 0.5F);
  Adam adam(network, {.weight_decay = 0.1});
  adam.step(network, 0.1);
  expect_all(network, 1.9);
  adam.step(network, 0.1);
  expect_all(network, 1.9 - 0.1 * (0.132 / 0.19) / std::sqrt(0.00096561 / 0.001999));
}

// Gradients 1 and 0: m = 0.09, s = 0.000999 after a largest one of 0.001.
TEST(Adam, AmsgradDividesByTheLargestSquare) {
  for (const bool amsgrad : {false, true}) {
    Network network = small_vgg5();
    set_all(network, 1.0F, 1.0F);
    Adam adam(network, {.weight_decay = 0.0, .amsgrad = amsgrad});
    adam.step(network, 0.1);
    expect_all(network, 0.9);
    set_gradients(network, 0.0F);
    adam.step(network, 0.1);
    expect_all(network, 0.9 - 0.1 * (amsgrad ? 0.669722 : 0.670058));
    EXPECT_EQ(adam.memories().size(), amsgrad ? 3U : 2U);
  }
}

TEST(Adam, HasItsOwnBetasAndEpsilon) {
  Network network = small_vgg5();
  set_all(network, 0.0F, 2.0F);
  Adam adam(network, {.weight_decay = 0.0, .beta1 = 0.5, .beta2 = 0.75, .epsilon = 2.0});
  adam.step(network, 1.0);
  expect_all(network, -0.5);  // 2/(2 + 2)
  set_gradients(network, -1.0F);
  adam.step(network, 1.0);
  // m = 0.5·1 − 0.5 = 0.
  expect_all(network, -0.5);
}

TEST(Adam, LeavesGammaUndecayedWhenAsked) {
  Network network = small_vgg5();
  set_all(network, 1.0F, 0.0F);
  Adam adam(network, {.weight_decay = 0.1, .decay_gamma = false});
  adam.step(network, 0.1);
  for (const Parameter& parameter : network.parameters()) {
    const bool gain = parameter.group == ParameterGroup::gain;
    EXPECT_NEAR(parameter.value[0], gain ? 1.0 : 0.9, 1e-6) << parameter.name;
  }
}

TEST(Optimizers, AreMadeByTheirName) {
  const Network network = small_vgg5();
  for (const KindInfo& entry : optimizer_kinds()) {
    const auto optimizer = make_optimizer(network, {.kind = entry.name});
    EXPECT_EQ(optimizer->memories()[0].values.size(), network.parameters().size()) << entry.name;
  }
  EXPECT_THROW(make_optimizer(network, {.kind = "adamm"}), Error);
}

}  // namespace
}  // namespace bntt
