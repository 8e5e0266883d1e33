#pragma once

#include <set>
#include <utility>
#include <vector>

#include "bntt/network.h"

namespace bntt {

/// The number of weights that an input bit meets, for each pixel of the map that a branch reads:
/// [y, x]. A pixel at the border of a convolution meets fewer, one that pooling drops meets none;
/// through the identity a bit meets one neuron.
std::vector<int64_t> fan_out(const BranchPlan& plan);

/// Σ set bits · fan-out: [step], over the images of the train.
std::vector<int64_t> accumulates_per_step(const std::vector<int64_t>& fan_out,
                                          const SpikeTrain& input);

/// The work of each synapse, summed over the images seen: [stage][step of the run].
struct SynapseWork {
  std::vector<std::vector<int64_t>> frames;  ///< images whose synapse was active at this step
  /// Set input bits times the weights that each meets (fewer at the border of a map).
  std::vector<std::vector<int64_t>> accumulates;
  /// For real-valued input: every weight of the frame, as in a dense layer. An input that is the
  /// same at every step is counted once per branch, at the first step that uses it.
  std::vector<std::vector<int64_t>> multiply_accumulates;
  std::vector<int64_t> input_spikes;  ///< [step]: spikes of the encoder

  /// Dense-equivalent multiply-adds: frames times the MACs of a frame.
  double dense_macs(const Network& network) const;
};

/// Fills a SynapseWork while a network runs with these windows.
class WorkCounter {
 public:
  WorkCounter(const Network& network, const StepWindows& windows);

  /// Starts a new batch, in which a constant input is counted again.
  void begin_batch() { constants_counted_.clear(); }
  /// `inputs` are those of the stage's branches.
  void count(std::size_t stage, int64_t first, const std::vector<const Signal*>& inputs);

  SynapseWork take() { return std::move(work_); }

 private:
  const Network& network_;
  StepWindows windows_;  // with those that the network has learned
  void count_branch(std::size_t stage, std::size_t branch, int64_t first, const Signal& input);

  std::vector<std::vector<std::vector<int64_t>>> fan_outs_;  // [stage][branch]
  SynapseWork work_;
  std::set<std::pair<std::size_t, std::size_t>> constants_counted_;  // stage, branch
};

}  // namespace bntt
