#include "learn/adam.h"

#include <cmath>

#include "learn/optimizers.h"

namespace bntt {
namespace {

std::vector<std::string> prefixes(bool amsgrad) {
  std::vector<std::string> names = {"optimizer.mean.", "optimizer.square."};
  if (amsgrad) names.emplace_back("optimizer.largest_square.");
  return names;
}

}  // namespace

Adam::Adam(const Network& network, const OptimizerOptions& options)
    : Optimizer(network, options, prefixes(options.amsgrad)) {}

void Adam::move(std::size_t index, const Pull& pull, double learning_rate, std::span<float> value) {
  const auto step = static_cast<double>(steps_done() + 1);
  const double mean_share = 1.0 - std::pow(options().beta1, step);
  const double square_share = 1.0 - std::pow(options().beta2, step);
  const auto rate = static_cast<float>(learning_rate / mean_share);
  const auto root = static_cast<float>(std::sqrt(square_share));
  const auto keep_mean = static_cast<float>(options().beta1);
  const auto add_mean = static_cast<float>(1.0 - options().beta1);
  const auto keep_square = static_cast<float>(options().beta2);
  const auto add_square = static_cast<float>(1.0 - options().beta2);
  const auto epsilon = static_cast<float>(options().epsilon);
  float* mean = memory(0, index);
  float* square = memory(1, index);
  float* largest = options().amsgrad ? memory(2, index) : square;
  for_each_number(std::ssize(value), [=](int64_t k) {
    const float g = pull.on(value[k], k);
    mean[k] = keep_mean * mean[k] + add_mean * g;
    square[k] = keep_square * square[k] + add_square * g * g;
    largest[k] = std::max(largest[k], square[k]);
    value[k] -= rate * (mean[k] / (std::sqrt(largest[k]) / root + epsilon));
  });
}

}  // namespace bntt
