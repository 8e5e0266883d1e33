#include "model/init.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace bntt {
namespace {

/// U(−bound, bound), or N(0, deviation²): one of them is 0.
struct Distribution {
  double bound = 0.0;
  double deviation = 0.0;
};

Distribution distribution_of(Init init, const DrawnStart& start) {
  const auto fan_in = static_cast<double>(start.fan_in);
  const auto fan_out = static_cast<double>(start.fan_out);
  switch (init) {
    case Init::xavier:
      return {.bound = 2.0 * std::sqrt(6.0 / (fan_in + fan_out))};
    case Init::he_fan_in:
      return {.deviation = std::sqrt(2.0 / fan_in)};
    case Init::he_fan_out:
      return {.deviation = std::sqrt(2.0 / fan_out)};
    case Init::vgg:
      return {.deviation = start.convolution ? std::sqrt(2.0 / fan_out) : 0.01};
    case Init::pytorch:
      return {.bound = 1.0 / std::sqrt(fan_in)};
  }
  BNTT_CHECK(false);
}

using Four = std::array<float, 4>;

Four uniform(const std::array<uint32_t, 4>& bits, double bound) {
  const auto largest = static_cast<float>(bound);
  Four values{};
  for (int i = 0; i < 4; ++i) values[i] = largest * (2.0F * uniform01(bits[i]) - 1.0F);
  return values;
}

/// Box-Muller transform: two numbers in (0, 1) and [0, 1) give two normally distributed ones.
Four normal(const std::array<uint32_t, 4>& bits, double deviation) {
  Four values{};
  for (int i = 0; i < 4; i += 2) {
    const double radius = std::sqrt(-2.0 * std::log((bits[i] + 0.5) * 0x1p-32));
    const double angle = 2.0 * std::numbers::pi * (bits[i + 1] * 0x1p-32);
    values[i] = static_cast<float>(deviation * radius * std::cos(angle));
    values[i + 1] = static_cast<float>(deviation * radius * std::sin(angle));
  }
  return values;
}

}  // namespace

Buffer<float> first_values(const ParameterDeclaration& declared, Init init, uint64_t seed,
                           const Place& place) {
  Buffer<float> values(size_of(declared.pytorch_shape));
  if (const float* constant = std::get_if<float>(&declared.start)) {
    values.fill(*constant);
    return values;
  }
  const auto [bound, deviation] = distribution_of(init, std::get<DrawnStart>(declared.start));
  for (int64_t i = 0; i < values.size(); i += 4) {
    Place at = place;
    at.block = static_cast<uint32_t>(i / 4);
    const auto bits = draw4(seed, Purpose::weights, at);
    const Four drawn = deviation > 0.0 ? normal(bits, deviation) : uniform(bits, bound);
    std::copy_n(drawn.begin(), std::min<int64_t>(4, values.size() - i), values.data() + i);
  }
  return values;
}

}  // namespace bntt
