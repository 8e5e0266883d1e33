#include "train/optimizer.h"

#include <cmath>

#include "base/kinds.h"
#include "train/adam.h"
#include "train/sgd.h"

namespace bntt {
namespace {

template <typename Kind>
std::unique_ptr<Optimizer> make(const Network& network, const OptimizerOptions& options) {
  return std::make_unique<Kind>(network, options);
}

constexpr OptimizerEntry kOptimizers[] = {
    {"sgd", "stochastic gradient descent with momentum (the paper's)", make<Sgd>},
    {"adam", "Adam with L2 decay in the gradient, or AMSGrad", make<Adam>},
};

double gradient_norm(const Network& network) {
  double squares = 0.0;
  for (const Parameter& parameter : network.parameters()) {
    for (const float g : parameter.gradient) squares += static_cast<double>(g) * g;
  }
  return std::sqrt(squares);
}

}  // namespace

std::span<const OptimizerEntry> optimizer_table() { return kOptimizers; }

std::unique_ptr<Optimizer> make_optimizer(std::string_view kind, const Network& network,
                                          const OptimizerOptions& options) {
  return find_kind<OptimizerEntry>("optimizer", kind, kOptimizers).make(network, options);
}

Optimizer::Optimizer(const Network& network, const OptimizerOptions& options,
                     const std::vector<std::string>& prefixes)
    : options_(options) {
  for (const std::string& prefix : prefixes) {
    Memory memory{.prefix = prefix};
    for (const Parameter& parameter : network.parameters()) {
      memory.values.push_back(Buffer<float>::zeros(parameter.value.size()));
    }
    memories_.push_back(std::move(memory));
  }
}

void Optimizer::step(Network& network, double learning_rate) {
  for (const Parameter& parameter : network.parameters()) {
    if (parameter.gradient.size() != parameter.value.size()) {
      fail("optimizer: {} has no gradient: expected a backward pass before the step",
           parameter.name);
    }
  }
  Pull pull;
  if (options_.clip_norm > 0.0) {
    const double norm = gradient_norm(network);
    if (norm > options_.clip_norm) pull.scale = static_cast<float>(options_.clip_norm / norm);
  }
  for (std::size_t i = 0; i < network.parameters().size(); ++i) {
    Parameter& parameter = network.parameters()[i];
    const bool decays = parameter.group != ParameterGroup::gain || options_.decay_gamma;
    pull.decay = decays ? static_cast<float>(options_.weight_decay) : 0.0F;
    pull.gradient = parameter.gradient.data();
    move(i, pull, learning_rate, parameter.value.span());
  }
  ++steps_done_;
}

}  // namespace bntt
