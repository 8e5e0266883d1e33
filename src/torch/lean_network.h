#pragma once

#include <torch/nn/module.h>

#include <vector>

#include "bntt/network.h"

namespace bntt {

/// A BNTT network in LibTorch's fastest plain form, for bntt bench: the convolution of all steps at
/// once, LibTorch's own batch norm per step, the LIF neurons of all steps as one autograd function
/// that works in place, fully connected layers as convolutions of the whole map (they use oneDNN,
/// whatever BLAS LibTorch was built with). Supports chains of LIF or integrate-and-fire neurons
/// that fire above the threshold, with BNTT, average pools, soft detached reset, a triangle
/// surrogate as wide as the threshold, instant propagation and a readout without norm; throws Error
/// for other networks.
class LeanNetwork : public torch::nn::Module {
 public:
  LeanNetwork(const Network& network, at::MemoryFormat layout);

  /// `input`: [step · batch, channel, y, x], or [batch, ...] if it is the same at every step.
  /// Returns the logits [batch, class], differentiable; updates the running statistics.
  torch::Tensor forward_training(const torch::Tensor& input, int64_t batch);

  /// Membranes of the hidden stages, and the readout's voltage so far.
  struct State {
    std::vector<torch::Tensor> membranes;  ///< undefined before the first step
    torch::Tensor voltage;
  };
  /// Runs steps [first_step, first_step + steps), without gradients, with the running statistics.
  /// `input` is as above.
  void advance(const torch::Tensor& input, int64_t batch, int64_t first_step, int64_t steps,
               State& state);
  torch::Tensor logits(const State& state) const;

  int64_t steps() const { return steps_; }
  at::MemoryFormat layout() const { return layout_; }

 private:
  struct Stage {
    StagePlan plan;
    BranchPlan branch;       // the only one
    torch::Tensor weight;    // [out, in, kernel, kernel], or [out, in, map height, map width]
    torch::Tensor gain;      // [step, channel]
    torch::Tensor mean;      // running, [step, channel]
    torch::Tensor variance;  // running, [step, channel]
    torch::Tensor scale;     // γ/√(σ² + ε) of each step: [step, 1, channel, 1, 1]
    torch::Tensor shift;     // −scale · μ
  };
  static torch::Tensor current_of(const Stage& stage, torch::Tensor frames);

  int64_t steps_;
  double readout_scale_;
  at::MemoryFormat layout_;
  std::vector<Stage> stages_;
};

}  // namespace bntt
