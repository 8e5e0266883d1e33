#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bntt/network.h"

namespace bntt {
namespace {

/// A convolution with fan_in 9·32 and fan_out 9·64, and a dense stage with 64·25 and 200.
Network network_with(Init init) {
  const NormSpec none{.kind = "none"};
  return {NetworkSpec{.input = {32, 5, 5},
                      .steps = 1,
                      .init = init,
                      .stages = {Conv{.channels = 64, .bias = true, .norm = none},
                                 Dense{.features = 200, .norm = none}, Readout{}}},
          /*seed=*/3};
}

struct Moments {
  double mean = 0.0;
  double deviation = 0.0;
  double largest = 0.0;
  double beyond_two = 0.0;  // share further than two deviations from 0
};

Moments moments_of(const Buffer<float>& values) {
  Moments moments;
  const auto count = static_cast<double>(values.size());
  for (const float value : values) {
    moments.mean += value / count;
    moments.deviation += static_cast<double>(value) * value / count;
    moments.largest = std::max(moments.largest, std::abs(static_cast<double>(value)));
  }
  moments.deviation = std::sqrt(moments.deviation);
  for (const float value : values) {
    if (std::abs(value) > 2.0 * moments.deviation) moments.beyond_two += 1.0 / count;
  }
  return moments;
}

void expect_normal(const Buffer<float>& values, double deviation) {
  const Moments moments = moments_of(values);
  EXPECT_NEAR(moments.mean, 0.0, 0.05 * deviation);
  EXPECT_NEAR(moments.deviation, deviation, 0.02 * deviation);
  EXPECT_NEAR(moments.beyond_two, 0.0455, 0.006);
}

void expect_uniform(const Buffer<float>& values, double bound) {
  const Moments moments = moments_of(values);
  EXPECT_NEAR(moments.mean, 0.0, 0.05 * bound);
  EXPECT_NEAR(moments.deviation, bound / std::sqrt(3.0), 0.02 * bound);
  EXPECT_LE(moments.largest, bound * 1.000001);
}

TEST(Init, DrawsTheDistributionsThatItNames) {
  const auto conv = [](const Network& network) -> const Buffer<float>& {
    return network.parameters()[0].value;
  };
  const auto dense = [](const Network& network) -> const Buffer<float>& {
    return network.parameters()[2].value;
  };
  const Network xavier = network_with(Init::xavier);
  expect_uniform(conv(xavier), 2.0 * std::sqrt(6.0 / (9 * 32 + 9 * 64)));
  expect_uniform(dense(xavier), 2.0 * std::sqrt(6.0 / (1600 + 200)));
  const Network fan_in = network_with(Init::he_fan_in);
  expect_normal(conv(fan_in), std::sqrt(2.0 / (9 * 32)));
  expect_normal(dense(fan_in), std::sqrt(2.0 / 1600));
  const Network fan_out = network_with(Init::he_fan_out);
  expect_normal(conv(fan_out), std::sqrt(2.0 / (9 * 64)));
  expect_normal(dense(fan_out), std::sqrt(2.0 / 200));
  const Network vgg = network_with(Init::vgg);
  expect_normal(conv(vgg), std::sqrt(2.0 / (9 * 64)));
  expect_normal(dense(vgg), 0.01);
  const Network pytorch = network_with(Init::pytorch);
  expect_uniform(conv(pytorch), 1.0 / std::sqrt(9.0 * 32));
  expect_uniform(dense(pytorch), 1.0 / std::sqrt(1600.0));
  for (const float bias : fan_in.parameters()[1].value) EXPECT_EQ(bias, 0.0F);
}

// Box and Muller's pairs: neighbours must not be correlated, nor their sizes.
TEST(Init, NeighboursAreIndependent) {
  const Network network = network_with(Init::he_fan_in);
  const Buffer<float>& values = network.parameters()[2].value;
  const double variance = 2.0 / 1600;
  double products = 0.0;
  double squares = 0.0;
  for (int64_t i = 0; i + 1 < values.size(); i += 2) {
    const double a = values[i];
    const double b = values[i + 1];
    products += a * b / variance;
    squares += (a * a / variance - 1.0) * (b * b / variance - 1.0);
  }
  const double pairs = static_cast<double>(values.size()) / 2.0;
  EXPECT_LT(std::abs(products / pairs), 5.0 / std::sqrt(pairs));
  EXPECT_LT(std::abs(squares / pairs), 10.0 / std::sqrt(pairs));
}

}  // namespace
}  // namespace bntt
