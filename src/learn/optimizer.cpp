#include "bntt/optimizer.h"

#include <algorithm>
#include <cmath>

#include "base/kinds.h"
#include "learn/adam.h"
#include "learn/optimizers.h"
#include "learn/sgd.h"

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

/// Whether a parameter belongs to a stage whose synapses are all fully connected: its weights,
/// biases, norms and neurons.
bool is_of_dense_stage(const Parameter& parameter, const std::vector<StagePlan>& stages) {
  const auto is_of = [&](const std::string& part) {
    return parameter.name.starts_with(part + ".");
  };
  return std::ranges::any_of(stages, [&](const StagePlan& stage) {
    const bool dense = std::ranges::all_of(stage.branches, [](const BranchPlan& branch) {
      return branch.synapse == SynapseKind::dense;
    });
    return dense &&
           (is_of(stage.name) || std::ranges::any_of(stage.branches, is_of, &BranchPlan::name));
  });
}

void expect_valid(const OptimizerOptions& options) {
  const auto expect_share = [](const char* what, double value) {
    if (!(value >= 0.0 && value < 1.0)) {
      fail("optimizer: {} is {}, expected 0 to less than 1", what, value);
    }
  };
  const auto expect_at_least_zero = [](const char* what, double value) {
    if (!(value >= 0.0 && std::isfinite(value))) {
      fail("optimizer: {} is {}, expected a finite number of at least 0", what, value);
    }
  };
  expect_share("momentum", options.momentum);
  expect_share("beta1", options.beta1);
  expect_share("beta2", options.beta2);
  expect_at_least_zero("weight_decay", options.weight_decay);
  expect_at_least_zero("clip_norm", options.clip_norm);
  expect_at_least_zero("dense_rate_factor", options.dense_rate_factor);
  if (!(options.epsilon > 0.0 && std::isfinite(options.epsilon))) {
    fail("optimizer: epsilon is {}, expected a finite number above 0", options.epsilon);
  }
}

}  // namespace

std::span<const OptimizerEntry> optimizer_table() { return kOptimizers; }

std::vector<KindInfo> optimizer_kinds() { return kinds_of(optimizer_table()); }

std::unique_ptr<Optimizer> make_optimizer(const Network& network, const OptimizerOptions& options) {
  return find_kind<OptimizerEntry>("optimizer", options.kind, kOptimizers).make(network, options);
}

Optimizer::Optimizer(const Network& network, const OptimizerOptions& options,
                     const std::vector<std::string>& prefixes)
    : options_(options), memory_count_(prefixes.size()) {
  expect_valid(options);
  for (const std::string& prefix : prefixes) {
    Memory memory{.prefix = prefix};
    for (const Parameter& parameter : network.parameters()) {
      memory.values.push_back(Buffer<float>::zeros(parameter.value.size()));
    }
    memories_.push_back(std::move(memory));
  }
  for (const Parameter& parameter : network.parameters()) {
    const bool dense = is_of_dense_stage(parameter, network.stages());
    rate_factors_.push_back(dense ? options.dense_rate_factor : 1.0);
  }
}

void Optimizer::set_steps_done(int64_t steps) {
  if (steps < 0) fail("optimizer: {} steps done, expected at least 0", steps);
  steps_done_ = steps;
}

void Optimizer::expect_fitting(const Network& network) const {
  const std::vector<Parameter>& parameters = network.parameters();
  for (const Parameter& parameter : parameters) {
    if (parameter.gradient.size() != parameter.value.size()) {
      fail("optimizer: {} has no gradient: expected a backward pass before the step",
           parameter.name);
    }
  }
  bool fits = memories_.size() == memory_count_ && rate_factors_.size() == parameters.size();
  for (const Memory& memory : memories_) {
    fits = fits && memory.values.size() == parameters.size();
    for (std::size_t i = 0; fits && i < parameters.size(); ++i) {
      fits = memory.values[i].size() == parameters[i].value.size();
    }
  }
  if (!fits) fail("optimizer: its state belongs to another network");
}

void Optimizer::step(Network& network, double learning_rate) {
  expect_fitting(network);
  if (!(learning_rate >= 0.0 && std::isfinite(learning_rate))) {
    fail("optimizer: the learning rate is {}, expected a finite number of at least 0",
         learning_rate);
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
    move(i, pull, learning_rate * rate_factors_[i], parameter.value.span());
  }
  ++steps_done_;
}

}  // namespace bntt
