#include "train/sgd.h"

#include <algorithm>
#include <cmath>

#include "base/threads.h"

namespace bntt {
namespace {

double gradient_norm(const Network& network) {
  double squares = 0.0;
  for (const Parameter& parameter : network.parameters()) {
    for (const float g : parameter.gradient) squares += static_cast<double>(g) * g;
  }
  return std::sqrt(squares);
}

}  // namespace

Sgd::Sgd(const Network& network, const SgdOptions& options) : options_(options) {
  for (const Parameter& parameter : network.parameters()) {
    velocities_.push_back(Buffer<float>::zeros(parameter.value.size()));
  }
}

void Sgd::step(Network& network, double learning_rate) {
  float scale = 1.0F;
  if (options_.clip_norm > 0.0) {
    const double norm = gradient_norm(network);
    if (norm > options_.clip_norm) scale = static_cast<float>(options_.clip_norm / norm);
  }
  const auto momentum = static_cast<float>(options_.momentum);
  const auto rate = static_cast<float>(learning_rate);
  for (std::size_t i = 0; i < velocities_.size(); ++i) {
    Parameter& parameter = network.parameters()[i];
    const bool decays = parameter.group != ParameterGroup::gain || options_.decay_gamma;
    const float decay = decays ? static_cast<float>(options_.weight_decay) : 0.0F;
    float* value = parameter.value.data();
    float* velocity = velocities_[i].data();
    const float* gradient = parameter.gradient.data();
    constexpr int64_t kBlock = 1 << 14;
    const int64_t size = parameter.value.size();
    parallel_for((size + kBlock - 1) / kBlock, [&](int64_t block) {
      for (int64_t k = block * kBlock; k < std::min(size, (block + 1) * kBlock); ++k) {
        velocity[k] = momentum * velocity[k] + (scale * gradient[k] + decay * value[k]);
        value[k] -= rate * velocity[k];
      }
    });
  }
}

}  // namespace bntt
