#include "model/quantise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/fail.h"
#include "kernels/integer_kernels.h"
#include "layers/synapses/integer_weights.h"

namespace bntt {
namespace {

/// Calls visit(stage, branch) for all branches, stage by stage.
template <typename Visit>
void for_each_branch(const std::vector<StagePlan>& stages, const Visit& visit) {
  for (const StagePlan& stage : stages) {
    for (const BranchPlan& branch : stage.branches) visit(stage, branch);
  }
}

/// Sums of 32 bits hold any number of spikes that an output can see.
bool sums_fit(const BranchPlan& branch) {
  const int64_t most = branch.fan_in * branch.pool_height * branch.pool_width;
  return most <= std::numeric_limits<int32_t>::max() / kernels::kLargestInteger;
}

bool reads_spikes(const Network& network, const BranchPlan& branch, bool input_spikes) {
  return std::ranges::all_of(branch.sources, [&](int64_t source) {
    return source == BranchPlan::kInput ? input_spikes : network.stages()[source].spikes();
  });
}

bool is_scale(float scale) { return std::isnormal(scale) && scale > 0.0F; }

}  // namespace

void Network::set_weight_scales(std::vector<std::vector<float>> scales) {
  check_numbers();
  if (scales.size() != weight_scales_.size()) {
    fail("network: scales of {} branches were given, expected {}", scales.size(),
         weight_scales_.size());
  }
  auto next = scales.begin();
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    for (std::size_t b = 0; b < plans_[i].branches.size(); ++b) {
      const std::vector<float>& own = *next++;
      if (own.empty()) continue;
      const BranchPlan& plan = plans_[i].branches[b];
      const std::span<const float> weights = weights_of(i, b);
      if (weights.empty() || std::ssize(own) != plan.output.channels ||
          !std::ranges::all_of(own, is_scale)) {
        fail("network: {} has scales that are not one positive number for each of {} channels",
             plan.name, weights.empty() ? 0 : plan.output.channels);
      }
      if (!sums_fit(plan)) fail("network: {} has too many inputs for sums of integers", plan.name);
      integer_weights(weights, own);
    }
  }
  weight_scales_ = std::move(scales);
}

bool Network::quantised() const {
  return std::ranges::any_of(weight_scales_,
                             [](const std::vector<float>& scales) { return !scales.empty(); });
}

std::vector<bool> quantisable_branches(const Network& network, bool input_spikes,
                                       const std::string& origin) {
  if (network.quantised()) fail("{}: cannot be quantised: its weights are int8 already", origin);
  std::vector<bool> branches;
  for_each_branch(network.stages(), [&](const StagePlan& stage, const BranchPlan& branch) {
    if (stage.neuron.kind == "relu" && !stage.readout) {
      fail("{}: cannot be quantised: stage {} has ReLU neurons, expected a spiking network", origin,
           stage.name);
    }
    const Parameter* weights = weights_of(network, branch);
    const bool suits = weights != nullptr && reads_spikes(network, branch, input_spikes);
    branches.push_back(suits);
    if (!suits) return;
    if (!std::ranges::all_of(weights->value, [](float w) { return std::isfinite(w); })) {
      fail("{}: cannot be quantised: {} has a weight that is not a finite number", origin,
           branch.name);
    }
    if (!sums_fit(branch)) {
      fail("{}: cannot be quantised: stage {} has {} inputs, more than a sum of 32 bits can hold",
           origin, stage.name, branch.fan_in * branch.pool_height * branch.pool_width);
    }
  });
  if (std::ranges::none_of(branches, [](bool suits) { return suits; })) {
    fail("{}: cannot be quantised: no stage has weights and reads spikes", origin);
  }
  return branches;
}

const std::vector<float>& scales_of(const Network& network, std::size_t stage, std::size_t branch) {
  std::size_t before = branch;
  for (std::size_t i = 0; i < stage; ++i) before += network.stages()[i].branches.size();
  return network.weight_scales().at(before);
}

bool adds_integers(const Network& network, std::size_t stage) {
  bool any = false;
  for (std::size_t b = 0; b < network.stages()[stage].branches.size(); ++b) {
    any = any || !scales_of(network, stage, b).empty();
  }
  return any;
}

const Parameter* weights_of(const Network& network, const BranchPlan& branch) {
  const auto found =
      std::ranges::find(network.parameters(), branch.name + ".weight", &Parameter::name);
  return found == network.parameters().end() ? nullptr : &*found;
}

std::vector<float> scales_of_largest(const Parameter& weights) {
  const auto channels = static_cast<std::size_t>(weights.pytorch_shape.front());
  std::vector<float> scales(channels, 0.0F);
  for (int64_t i = 0; i < weights.value.size(); ++i) {
    float& largest = scales[static_cast<std::size_t>(i) % channels];
    largest = std::max(largest, std::abs(weights.value[i]));
  }
  // Of a channel without weights any scale will do.
  for (float& scale : scales) {
    scale /= static_cast<float>(kernels::kLargestInteger);
    if (!is_scale(scale)) scale = 1.0F;
  }
  return scales;
}

WeightScales scales_of_largest(const Network& network, const std::vector<bool>& branches) {
  WeightScales scales;
  for_each_branch(network.stages(), [&](const StagePlan&, const BranchPlan& branch) {
    const bool wanted = branches[scales.size()];
    scales.push_back(wanted ? scales_of_largest(*weights_of(network, branch))
                            : std::vector<float>());
  });
  return scales;
}

Buffer<float> rounded_to(const std::vector<float>& scales, const Buffer<float>& weights) {
  Buffer<float> rounded(weights.size());
  for (int64_t i = 0; i < weights.size(); ++i) {
    const float scale = scales[static_cast<std::size_t>(i) % scales.size()];
    rounded[i] = scale * static_cast<float>(nearest_integer(weights[i], scale));
  }
  return rounded;
}

Network quantise(const Network& network, const WeightScales& scales) {
  Network result = network.copy();
  auto next = scales.begin();
  for_each_branch(network.stages(), [&](const StagePlan&, const BranchPlan& branch) {
    const std::vector<float>& own = *next++;
    if (own.empty()) return;
    const auto found =
        std::ranges::find(result.parameters(), branch.name + ".weight", &Parameter::name);
    found->value = rounded_to(own, found->value);
  });
  result.set_weight_scales(scales);
  return result;
}

Network with_float_weights(const Network& network) {
  Network floats = network.copy();
  floats.set_weight_scales(WeightScales(network.weight_scales().size()));
  return floats;
}

}  // namespace bntt
