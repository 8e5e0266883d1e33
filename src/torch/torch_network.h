#pragma once

#include <torch/nn/module.h>

#include <map>
#include <string>
#include <vector>

#include "bntt/network.h"
#include "torch/torch_branch.h"
#include "torch/torch_neurons.h"

namespace bntt {

struct TorchOptions {
  /// In float64 the oracle's own rounding is far below every tolerance, so that any disagreement is
  /// caused by our code.
  torch::Dtype dtype = torch::kFloat64;
};

/// All tensors are [step, batch, channel, y, x], over the stage's active steps.
struct TorchStageResult {
  std::vector<torch::Tensor> currents;  ///< [branch], before bias and norm
  torch::Tensor membrane;               ///< as compared with the threshold; undefined without one
  torch::Tensor output;                 ///< spikes or real values; undefined for the readout
};

struct TorchResult {
  std::vector<TorchStageResult> stages;
  torch::Tensor logits;       ///< [batch, class]
  torch::Tensor step_logits;  ///< [step, batch, class]
};

/// The network of a NetworkSpec in plain PyTorch style, sharing nothing with our layers:
/// convolutions and matrix products of LibTorch, membranes as tensors in a loop over time,
/// gradients by autograd. The oracle of the tests. Its parameters and buffers have the names of
/// Network::parameters() and Network::statistics().
class TorchNetwork : public torch::nn::Module {
 public:
  explicit TorchNetwork(const NetworkSpec& spec, const TorchOptions& options = {});

  /// Copies parameters and running statistics. Throws Error unless both networks have the same
  /// names and shapes.
  void load(const Network& network);

  /// `input`: [active step, batch, channel, y, x], or one step that stands for all. If
  /// `imposed_spikes` is given (one tensor per hidden stage, undefined if it does not spike), these
  /// spikes are passed on and reset the membranes, while gradients come from the oracle's own
  /// membranes. If `kept` is given (one tensor per hidden stage, 0 or 1, for one step or all;
  /// undefined if nothing is dropped), outputs are multiplied by kept/(1 − p).
  TorchResult forward(const torch::Tensor& input, NormMode mode,
                      const std::vector<torch::Tensor>* imposed_spikes = nullptr,
                      const std::vector<torch::Tensor>* kept = nullptr);

  struct Branch {
    std::vector<int64_t> sources;  ///< stages whose outputs are added; -1: the input
    TorchBranch module = nullptr;
  };
  struct Stage {
    std::string name;
    bool readout = false;
    NeuronSpec neuron;
    int64_t first_step = 0;
    std::vector<Branch> branches;
    TorchNeurons neurons = nullptr;
  };
  const std::vector<Stage>& stages() const { return stages_; }
  int64_t active_steps() const { return active_steps_; }
  torch::Dtype dtype() const { return options_.dtype; }

 private:
  void add_stage(Stage stage, const std::vector<BranchSpec>& branches,
                 const std::vector<PoolSpec>& pools, const MapShape& input);
  Branch make_branch(const BranchSpec& spec, const std::vector<PoolSpec>& pools,
                     const MapShape& input, const TorchNormPlace& place) const;

  int64_t steps_ = 0;
  int64_t active_steps_ = 0;
  Propagation propagation_ = Propagation::instant;
  Readout readout_;
  TorchOptions options_;
  std::vector<Stage> stages_;
};

}  // namespace bntt
