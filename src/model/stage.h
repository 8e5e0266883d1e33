#pragma once

#include <memory>
#include <vector>

#include "layers/neurons/neurons.h"
#include "model/branch.h"
#include "model/branch_input.h"

namespace bntt {

struct StageNumbers {
  std::vector<BranchNumbers> branches;
  std::span<const Parameter> neurons;
};

/// neurons(Σ over branches of norm(synapse(input))), over a window of steps. Holds no state and no
/// numbers: those are arguments. There is one of `inputs` per branch.
class Stage {
 public:
  Stage(const StagePlan& plan, int64_t run_steps, Propagation propagation);

  using Inputs = std::vector<const Signal*>;

  std::vector<Branch>& branches() { return branches_; }
  const std::vector<Branch>& branches() const { return branches_; }
  const Neurons& neurons() const { return *neurons_; }

  /// The window of training: all active steps from rest. There is one list of `statistics` per
  /// branch. `voltage` receives the readout's sum (null for hidden stages). Keeps: one bit (or
  /// float, for real-valued neurons) per neuron-step, and what the branches keep.
  StageTrace forward(const Inputs& inputs, const StageNumbers& numbers,
                     const std::vector<std::span<Statistic>>& statistics,
                     const ForwardOptions& options, Buffer<float>* voltage) const;

  struct Gradients {
    std::vector<Branch::Gradients> branches;
    std::span<Parameter> neurons;
    std::vector<bool> wants_input;  // [branch]
  };
  /// Computes the gradients of the stage's numbers from that of its outputs; returns those of the
  /// pooled inputs of its branches where wanted.
  std::vector<GradientBuffer> backward(const Inputs& inputs, StageTrace trace,
                                       const StageNumbers& numbers, const ForwardOptions& options,
                                       ArrivingGradient arriving, const Gradients& gradients) const;

  struct AdvanceOptions {
    const std::vector<bool>* active = nullptr;  // [step of the run]; null: synapses always active
    std::vector<Buffer<float>>* constant_currents = nullptr;  // [branch]; may be null
  };
  /// A window of the stage's local steps, from `first` on, in evaluation.
  Signal advance(const Inputs& inputs, int64_t first, const StageNumbers& numbers,
                 Buffer<float>& carry, const AdvanceOptions& options) const;
  /// Whether advance() need not store currents because the neurons read each row while it is in
  /// cache.
  bool takes_rows(const Inputs& inputs) const;

 private:
  Signal work(const Inputs& inputs, int64_t first, const RestingSteps& resting,
              const StageNumbers& numbers, Buffer<float>& carry,
              std::vector<Buffer<float>>& constant_currents) const;
  SpikeTrain work_by_rows(const Inputs& inputs, int64_t first, const RestingSteps& resting,
                          const StageNumbers& numbers, Buffer<float>& carry) const;
  Signal rest(int64_t steps, int64_t batch, const StageNumbers& numbers,
              Buffer<float>& carry) const;
  Buffer<float> no_state(const kernels::NeuronShape& shape) const;

  StagePlan plan_;
  std::vector<Branch> branches_;
  std::unique_ptr<Neurons> neurons_;
};

}  // namespace bntt
