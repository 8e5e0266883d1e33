#pragma once

#include <torch/nn/module.h>

#include <vector>

#include "bntt/network.h"
#include "torch/torch_norm.h"

namespace bntt {

struct TorchOptions {
  /// In float64 the oracle's own rounding is far below every tolerance, so that a disagreement is
  /// ours.
  torch::Dtype dtype = torch::kFloat64;
};

/// All tensors are [step, batch, channel, y, x], over the stage's active steps.
struct TorchStageResult {
  torch::Tensor current;   ///< before the norm
  torch::Tensor membrane;  ///< as compared with the threshold; undefined for ReLU and readout
  torch::Tensor output;    ///< spikes or activations; undefined for the readout
};

struct TorchResult {
  std::vector<TorchStageResult> stages;
  torch::Tensor logits;  ///< [batch, class]
};

/// The network of a NetworkSpec in PyTorch's plain way, sharing nothing with our layers:
/// convolutions and matrix products step by step, membranes as tensors in a loop over time,
/// gradients by autograd. The oracle of the tests.
class TorchNetwork : public torch::nn::Module {
 public:
  explicit TorchNetwork(const NetworkSpec& spec, const TorchOptions& options = {});

  /// Takes over weights, γ and running statistics.
  void load(const Network& network);

  /// `input`: [active step, batch, channel, y, x], or one step that stands for all. With
  /// `imposed_spikes` (one tensor per hidden stage) those are handed on and reset the membranes,
  /// while gradients come from the oracle's own membranes.
  TorchResult forward(const torch::Tensor& input, NormMode mode,
                      const std::vector<torch::Tensor>* imposed_spikes = nullptr);

  struct Stage {
    std::vector<int64_t> pools;  ///< before the synapse; size 0 averages the whole map
    bool convolution = false;
    bool readout = false;
    NeuronSpec neuron;
    int64_t first_step = 0;
    torch::Tensor weight;  ///< [out, in, 3, 3] or [out, in]
    TorchNorm norm = nullptr;
  };
  const std::vector<Stage>& stages() const { return stages_; }
  int64_t active_steps() const { return active_steps_; }
  torch::Dtype dtype() const { return options_.dtype; }

 private:
  void add_stages(const NetworkSpec& spec);
  void add_stage(Stage stage, const NormSpec& norm, int64_t outputs, MapShape& map);

  int64_t steps_ = 0;
  int64_t active_steps_ = 0;
  Propagation propagation_ = Propagation::instant;
  bool divide_by_steps_ = true;
  TorchOptions options_;
  std::vector<Stage> stages_;
};

/// Pools, then weights: one step's frames [batch, channel, y, x] to its current.
torch::Tensor apply_synapse(const TorchNetwork::Stage& stage, torch::Tensor frames);

}  // namespace bntt
