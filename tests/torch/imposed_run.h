#pragma once

#include "torch/torch_network.h"

namespace bntt {

/// How far our numbers may be from the oracle's, as a part of their norm; membranes that
/// contradict our spikes from the threshold, as a number.
struct Tolerances {
  double forward = 1e-5;
  double threshold = 1e-5;
  double gradient = 1e-4;
};

/// One forward pass of ours, and the oracle's on the same numbers with our spikes imposed, so that
/// a membrane that rounds to the other side of the threshold cannot send the two apart.
class ImposedRun {
 public:
  /// Runs both; with NormMode::batch, the network's running statistics move on.
  ImposedRun(Network& network, const Signal& input, NormMode mode,
             const DropoutDraws* dropout = nullptr, const Tolerances& tolerances = {});

  /// Spikes on the right side of the threshold or near it; currents, real-valued outputs,
  /// running statistics and logits equal; every spiking stage both fires and rests somewhere.
  void expect_forward_agrees() const;

  /// Gradients of every parameter, found by its name, and of the input.
  void expect_backward_agrees(const Buffer<float>& logits_gradient,
                              const torch::Tensor& oracle_loss, bool of_steps = false);
  /// Both at once, with a random gradient at the logits.
  void expect_all_agrees();

  const Trace& trace() const { return trace_; }
  const torch::Tensor& oracle_logits() const { return result_.logits; }
  const torch::Tensor& oracle_step_logits() const { return result_.step_logits; }
  const torch::Tensor& oracle_input() const { return input_; }

 private:
  void expect_branches_agree(std::size_t stage) const;
  void expect_output_agrees(std::size_t stage) const;
  void expect_statistics_agree() const;
  void expect_gradient_agrees(const Parameter& parameter, const torch::Tensor& gradient) const;
  void expect_cancelled(const torch::Tensor& bias_gradient,
                        const torch::Tensor& current_gradient) const;
  /// The stage to which a parameter or statistic of this name belongs.
  const StagePlan& stage_of(const std::string& name) const;
  /// Whether the branch to which a number of this name belongs works at a step of the run.
  bool works(const std::string& name, int64_t step) const;
  /// ∂L/∂current of a bias whose gradient is zero, since a norm subtracts it again; else undefined.
  torch::Tensor current_of_cancelled_bias(const Parameter& parameter) const;

  Network& network_;
  Tolerances tolerances_;
  TorchNetwork oracle_;
  std::vector<Statistic> statistics_before_;
  Trace trace_;
  torch::Tensor input_;
  TorchResult result_;
};

/// ‖ours − oracle‖ / ‖oracle‖; two zeros agree.
double relative_error(const torch::Tensor& ours, const torch::Tensor& oracle);

}  // namespace bntt
