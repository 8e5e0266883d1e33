#pragma once

#include <memory>
#include <span>

#include "bntt/network.h"
#include "bntt/norm.h"
#include "kernels/neuron.h"
#include "layers/synapses/synapse.h"

namespace bntt {

/// The numbers that a branch works with; the network owns them.
struct BranchNumbers {
  std::span<const Parameter> synapse;
  std::span<const Parameter> norm;
  std::span<const Statistic> statistics;
  const PreparedWeights* prepared = nullptr;  // of the synapse's weights
  float input_factor = 1.0F;                  // of the stage's neurons

  const float* weights() const;  // null for identity
};

struct ForwardOptions {
  NormMode mode = NormMode::batch;
  Precision precision = Precision::fp32;
  Keep keep = Keep::everything;
};

/// Steps of a window at which the synapses of a stage rest: [step]; empty: they always work.
using RestingSteps = std::vector<bool>;
RestingFrames frames_of(const RestingSteps& resting, int64_t batch);

/// Synapse → norm over a window of steps: from the input to a current x, and the affine map that
/// makes y of it. y itself is made where it is needed.
class Branch {
 public:
  Branch(const BranchPlan& plan, const StagePlan& stage, int64_t run_steps);

  const BranchPlan& plan() const { return plan_; }
  Synapse& synapse() { return synapse_; }
  const Synapse& synapse() const { return synapse_; }
  const Norm& norm() const { return *norm_; }

  kernels::NeuronShape shape_of(const Signal& input) const;

  /// Training's window. The running statistics follow in NormMode::batch.
  BranchTrace forward(const Signal& input, const BranchNumbers& numbers,
                      std::span<Statistic> statistics, const ForwardOptions& options) const;
  /// Drops the currents of a trace if they are large and cheap to compute again; computes them
  /// again.
  void drop_cheap_currents(const Signal& input, BranchTrace& trace) const;
  void restore_currents(const Signal& input, const BranchNumbers& numbers, Precision precision,
                        BranchTrace& trace) const;

  /// The affine map of steps from local step `first` on, in evaluation; not for norms per image.
  NormTrace evaluated_norm(int64_t steps, int64_t first, const BranchNumbers& numbers) const;
  struct Evaluated {
    NormTrace norm;
    kernels::Currents currents;  // in `own`, or in the constant current
    Buffer<float> own;
  };
  /// A window in evaluation form. A constant current is put to `constant_current`, or taken from
  /// there. At rest the affine map is 0, and the synapse makes no current.
  Evaluated evaluate(const Signal& input, int64_t first, const RestingSteps& resting,
                     const BranchNumbers& numbers, Buffer<float>& constant_current) const;

  struct Gradients {
    std::span<Parameter> synapse;
    std::span<Parameter> norm;
  };
  RowSplit row_split(const kernels::NeuronShape& shape) const;
  /// From ∂L/∂v, which it overwrites, and its sums over rows to the gradients of the branch's
  /// numbers, and to that of its pooled input [stored step, batch, y, x, channel], if wanted.
  Buffer<float> backward(const Signal& input, BranchTrace trace, const BranchNumbers& numbers,
                         const ForwardOptions& options, RowGradientSums sums,
                         Buffer<float> gradient, const Gradients& gradients,
                         bool want_input_gradient) const;

 private:
  /// What is made of the currents while they are written.
  struct Wanted {
    bool halves = false;  // rounded to bf16 and kept as such, instead of floats
    bool moments = false;
    Arithmetic arithmetic = Arithmetic::fp32;
    RestingFrames resting = {};
  };
  struct Written {
    Buffer<float> current;
    Buffer<uint16_t> halves;
    RowMoments moments;
  };
  Written write_currents(const Signal& input, const PreparedWeights& weights,
                         const Wanted& wanted) const;
  RowMoments moments_of(const kernels::NeuronShape& shape, bool constant,
                        const Buffer<float>& current) const;
  const Buffer<float>* bias(const BranchNumbers& numbers) const;
  void add_bias(const BranchNumbers& numbers, RowMoments& moments) const;
  void finish(int64_t run_step, const BranchNumbers& numbers, NormTrace& trace) const;
  bool takes_batch_moments(NormMode mode) const;
  /// Norms from outside the library must return as many numbers as the kernels will read.
  void expect_whole(const NormTrace& trace, int64_t steps, int64_t batch) const;
  void expect_whole(const NormGradient& rows, const NormTrace& trace) const;

  BranchPlan plan_;
  std::string stage_name_;
  int64_t first_step_;
  Synapse synapse_;
  std::unique_ptr<Norm> norm_;
  bool has_statistics_;
};

/// How the neurons' kernels read a trace.
kernels::Affine affine_of(const NormTrace& trace);
kernels::Currents currents_of(const BranchTrace& trace, const kernels::NeuronShape& shape);

}  // namespace bntt
