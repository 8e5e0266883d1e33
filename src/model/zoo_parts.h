#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "bntt/zoo.h"

namespace bntt {

inline constexpr double kMaxWidth = 64.0;
inline constexpr SynapseSpec kIdentity{.kind = SynapseKind::identity};

/// The pieces that every network of the zoo is made of.
class ZooParts {
 public:
  explicit ZooParts(const ZooOptions& options) : options_(options) {
    if (!(options.width > 0.0 && options.width <= kMaxWidth)) {
      fail("width is {}, expected a number above 0 and at most {}", options.width, kMaxWidth);
    }
    if (!(options.pool_threshold >= 0.0F) || !std::isfinite(options.pool_threshold)) {
      fail("pool_threshold is {}, expected a number of at least 0", options.pool_threshold);
    }
  }

  Conv3x3 conv(int64_t channels) const {
    return {scaled(channels), options_.norm, options_.neuron};
  }
  Dense dense(int64_t features) const { return {scaled(features), options_.norm, options_.neuron}; }
  NetworkSpec chain(std::initializer_list<StageSpec> hidden) const {
    return network(hidden, readout());
  }

  int64_t scaled(int64_t count) const {
    return std::max<int64_t>(1, std::llround(static_cast<double>(count) * options_.width));
  }
  const NormSpec& norm() const { return options_.norm; }
  const NeuronSpec& neuron() const { return options_.neuron; }
  Readout readout() const {
    return {.classes = options_.classes,
            .norm = options_.readout_norm,
            .divide_by_steps = options_.divide_by_steps,
            .votes = options_.readout_votes,
            .leak = options_.readout_leak,
            .leak_newest = options_.readout_leak_newest,
            .leak_gradient = options_.readout_leak_gradient};
  }
  /// The last norm of a residual block.
  NormSpec last_norm() const {
    NormSpec norm = options_.norm;
    if (options_.zero_residual) norm.gain_start = 0.0F;
    return norm;
  }
  NetworkSpec network(std::vector<StageSpec> hidden, Readout readout) const {
    if (options_.pool_threshold > 0.0F) give_pools_neurons(hidden, readout);
    hidden.emplace_back(std::move(readout));
    return {.input = options_.input,
            .steps = options_.steps,
            .propagation = options_.propagation,
            .init = options_.init,
            .stages = std::move(hidden)};
  }

  /// The output of a stage after a pool, so that dropout can be applied to it.
  BranchedStage pooled(const std::string& name, const PoolSpec& pool, float dropout) const {
    return {.name = name,
            .branches = {{.pool = pool, .synapse = kIdentity, .norm = {.kind = "none"}}},
            .neuron = {.kind = "none",
                       .dropout = dropout,
                       .dropout_per_step = options_.neuron.dropout_per_step}};
  }
  /// Counts the spikes of the previous stage, which are the votes.
  Readout counting_readout() const {
    Readout counting = readout();
    counting.norm = {.kind = "none"};
    counting.synapse = SynapseKind::identity;
    return counting;
  }

 private:
  void give_pools_neurons(std::vector<StageSpec>& hidden, Readout& readout) const {
    NeuronSpec neuron = options_.neuron;
    neuron.kind = neuron.kind == "lee" ? "lee-if" : "if";
    neuron.threshold = options_.pool_threshold;
    neuron.dropout = 0.0F;
    int64_t number = 0;
    for (StageSpec& stage : hidden) {
      const auto* pool = std::get_if<AvgPool>(&stage);
      if (pool == nullptr) continue;
      BranchSpec branch{
          .pool = {PoolKind::average, pool->size}, .synapse = kIdentity, .norm = {.kind = "none"}};
      // The source that the readout would have read through the pool.
      if (&stage == &hidden.back()) branch.source = std::exchange(readout.source, {});
      stage = BranchedStage{"pool" + std::to_string(++number), {branch}, neuron};
    }
  }

  const ZooOptions& options_;
};

inline constexpr AvgPool kPool{.size = 2};
inline constexpr AvgPool kGlobalPool{.size = 0};

}  // namespace bntt
