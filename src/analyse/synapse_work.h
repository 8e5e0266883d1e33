#pragma once

#include <vector>

#include "bntt/network.h"

namespace bntt {

/// Weights that an input bit at each pixel of the source map meets: [y, x]. A pixel at the border
/// of a convolution meets fewer, one that pooling drops none.
std::vector<int64_t> fan_out(const StagePlan& plan);

/// Σ set bits · fan-out: [step], over the images of the train.
std::vector<int64_t> accumulates_per_step(const std::vector<int64_t>& fan_out,
                                          const SpikeTrain& input);

/// What each synapse did, summed over the images seen: [stage][step of the run].
struct SynapseWork {
  std::vector<std::vector<int64_t>> frames;  ///< images whose synapse worked at this step
  /// Set input bits times the weights that each really meets (fewer at the border of a map).
  std::vector<std::vector<int64_t>> accumulates;
  /// Real-valued input: every weight of the frame, as a dense layer needs it. An input that is the
  /// same at every step is counted once, at the first step that uses it.
  std::vector<std::vector<int64_t>> multiply_accumulates;
  std::vector<int64_t> input_spikes;  ///< [step]: the encoder's

  /// Dense-equivalent multiply-adds: frames times the MACs of a frame.
  double dense_macs(const Network& network) const;
};

/// Fills a SynapseWork while a network runs with these windows, which must outlive the counter.
class WorkCounter {
 public:
  WorkCounter(const Network& network, const StepWindows& windows);

  /// A new batch: a constant input is to be counted again.
  void begin_batch() { constant_counted_ = false; }
  void count(std::size_t stage, int64_t first, const Signal& input);

  SynapseWork take() { return std::move(work_); }

 private:
  const Network& network_;
  const StepWindows& windows_;
  std::vector<std::vector<int64_t>> fan_outs_;  // [stage]
  SynapseWork work_;
  bool constant_counted_ = false;
};

}  // namespace bntt
