#include <gtest/gtest.h>

#include <cmath>

#include "learn/sgd.h"
#include "small_networks.h"

namespace bntt {
namespace {

using testing::small_vgg5;

/// A weight of 2 with gradient 0.5 everywhere, γ of 1 with gradient -1 everywhere.
Network prepared() {
  Network network = small_vgg5();
  for (Parameter& parameter : network.parameters()) {
    const bool weight = parameter.group == ParameterGroup::weight;
    parameter.value.fill(weight ? 2.0F : 1.0F);
    parameter.gradient = Buffer<float>(parameter.value.size());
    parameter.gradient.fill(weight ? 0.5F : -1.0F);
  }
  return network;
}

void expect_values(const Network& network, double weight, double gain) {
  for (const Parameter& parameter : network.parameters()) {
    const double expected = parameter.group == ParameterGroup::weight ? weight : gain;
    for (const float value : parameter.value) ASSERT_NEAR(value, expected, 1e-6) << parameter.name;
  }
}

TEST(Sgd, FollowsMomentumAndDecayByHand) {
  Network network = prepared();
  Sgd sgd(network, {.momentum = 0.9, .weight_decay = 0.1});
  // weight: v = 0.5 + 0.1·2 = 0.7, w = 2 − 0.1·0.7;  γ: v = −1 + 0.1 = −0.9, γ = 1 + 0.09.
  sgd.step(network, 0.1);
  expect_values(network, 1.93, 1.09);
  // weight: v = 0.9·0.7 + 0.5 + 0.193 = 1.323;  γ: v = 0.9·(−0.9) − 1 + 0.109 = −1.701.
  sgd.step(network, 0.1);
  expect_values(network, 1.93 - 0.1323, 1.09 + 0.1701);
}

TEST(Sgd, LeavesGammaUndecayedWhenAsked) {
  Network network = prepared();
  Sgd sgd(network, {.momentum = 0.0, .weight_decay = 0.1, .decay_gamma = false});
  sgd.step(network, 0.1);
  expect_values(network, 1.93, 1.1);
}

TEST(Sgd, ClipsTheNormOfAllGradientsTogether) {
  Network network = prepared();
  double squares = 0.0;
  for (const Parameter& parameter : network.parameters()) {
    for (const float g : parameter.gradient) squares += static_cast<double>(g) * g;
  }
  const double norm = std::sqrt(squares);
  Sgd sgd(network, {.momentum = 0.0, .weight_decay = 0.0, .clip_norm = norm / 4});
  sgd.step(network, 0.1);
  expect_values(network, 2.0 - 0.1 * 0.5 / 4, 1.0 + 0.1 / 4);
}

TEST(Sgd, DoesNotStretchSmallGradients) {
  Network network = prepared();
  Sgd sgd(network, {.momentum = 0.0, .weight_decay = 0.0, .clip_norm = 1e6});
  sgd.step(network, 0.1);
  expect_values(network, 1.95, 1.1);
}

}  // namespace
}  // namespace bntt
