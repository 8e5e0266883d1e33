#include "classical/gabor_bank.h"

#include <cmath>
#include <numbers>
#include <numeric>

namespace bntt {
namespace {

constexpr double kSigma = 2.8;
constexpr double kWavelength = 5.0;
constexpr double kAspect = 0.3;
constexpr double kLength = 100.0;

double gabor(int x, int y, double angle) {
  const double across = x * std::cos(angle) + y * std::sin(angle);
  const double along = -x * std::sin(angle) + y * std::cos(angle);
  const double distance = across * across + kAspect * kAspect * along * along;
  return std::exp(-distance / (2.0 * kSigma * kSigma)) *
         std::cos(2.0 * std::numbers::pi * across / kWavelength);
}

}  // namespace

GaborBank::GaborBank() : weights(kSide * kSide * kOrientations) {
  for (int k = 0; k < kOrientations; ++k) {
    std::vector<double> filter;
    for (int y = -kRadius; y <= kRadius; ++y) {
      for (int x = -kRadius; x <= kRadius; ++x) {
        filter.push_back(gabor(x, y, std::numbers::pi * k / kOrientations));
      }
    }
    const double mean =
        std::accumulate(filter.begin(), filter.end(), 0.0) / static_cast<double>(filter.size());
    double squares = 0.0;
    for (double& value : filter) {
      value -= mean;
      squares += value * value;
    }
    for (std::size_t i = 0; i < filter.size(); ++i) {
      weights[i * kOrientations + k] =
          static_cast<int32_t>(std::lround(filter[i] * kLength / std::sqrt(squares)));
    }
  }
}

}  // namespace bntt
