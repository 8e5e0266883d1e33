#pragma once

#include <memory>
#include <span>

#include "bntt/network.h"
#include "bntt/norm.h"
#include "kernels/neuron.h"
#include "layers/synapses/synapse.h"
#include "model/gradient_buffer.h"
#include "model/working_steps.h"

namespace bntt {

/// The numbers that a branch uses; the network owns them.
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

/// Synapse → norm over a window of steps: maps the input to a current x and the affine map from x
/// to y. y itself is computed where it is needed.
class Branch {
 public:
  Branch(const BranchPlan& plan, const StagePlan& stage, int64_t run_steps);

  const BranchPlan& plan() const { return plan_; }
  Synapse& synapse() { return synapse_; }
  const Synapse& synapse() const { return synapse_; }
  const Norm& norm() const { return *norm_; }
  /// Of all active steps of the stage; only for norms whose zero_gain_silences_step().
  void set_working(WorkingSteps working) { working_ = std::move(working); }
  const WorkingSteps& working() const { return working_; }

  kernels::NeuronShape shape_of(const Signal& input) const;

  /// The window of training. In NormMode::batch, updates the running statistics.
  BranchTrace forward(const Signal& input, const BranchNumbers& numbers,
                      std::span<Statistic> statistics, const ForwardOptions& options) const;
  /// Drops the currents of a trace if they are large and cheap to recompute; restore_currents()
  /// recomputes them.
  void drop_cheap_currents(const Signal& input, BranchTrace& trace) const;
  void restore_currents(const Signal& input, const BranchNumbers& numbers, Precision precision,
                        BranchTrace& trace) const;

  /// The affine map of the currents of spikes, from local step `first` on, in evaluation; not for
  /// per-image norms.
  NormTrace evaluated_norm(int64_t steps, int64_t first, const BranchNumbers& numbers) const;
  struct Evaluation {
    NormTrace norm;
    kernels::Currents currents;  // in `own`, or in the constant current
    Buffer<float> own;
  };
  /// A window in evaluation. A constant current is stored in `constant_current`, or read from it if
  /// already there. For resting steps the affine map is 0, and the synapse computes no current.
  Evaluation evaluate(const Signal& input, int64_t first, const RestingSteps& resting,
                      const BranchNumbers& numbers, Buffer<float>& constant_current) const;

  struct Gradients {
    std::span<Parameter> synapse;
    std::span<Parameter> norm;
  };
  RowSplit row_split(const kernels::NeuronShape& shape) const;
  /// Σ ∂L/∂y and Σ ∂L/∂y · x̂ of every row, where the neurons have not added them up: in a stage of
  /// several branches.
  void add_gradient_sums(const kernels::NeuronShape& shape, const BranchTrace& trace,
                         const GradientBuffer& gradient, RowGradientSums& sums) const;
  /// From ∂L/∂v, which it overwrites, and its sums over rows, computes the gradients of the
  /// branch's numbers and, if wanted, that of its pooled input [stored step, batch, y, x, channel].
  GradientBuffer backward(const Signal& input, BranchTrace trace, const BranchNumbers& numbers,
                          const ForwardOptions& options, RowGradientSums sums,
                          GradientBuffer gradient, const Gradients& gradients,
                          bool want_input_gradient) const;

 private:
  /// What is computed from the currents while they are written.
  struct CurrentOptions {
    bool halves = false;  // rounded to bf16 and stored as such, instead of floats
    bool moments = false;
    Arithmetic arithmetic = Arithmetic::fp32;
    RestingFrames resting = {};
  };
  struct BranchCurrents {
    Buffer<float> current;
    Buffer<uint16_t> halves;
    RowMoments moments;
  };
  BranchCurrents write_currents(const Signal& input, const PreparedWeights& weights,
                                const CurrentOptions& wanted) const;
  RowMoments moments_of(const kernels::NeuronShape& shape, bool constant,
                        const Buffer<float>& current) const;
  /// The same at the working steps alone.
  BranchCurrents write_working_currents(const Signal& input, const PreparedWeights& weights,
                                        const CurrentOptions& wanted) const;
  NormTrace trace_of_batch(const kernels::NeuronShape& shape, const RowMoments& moments,
                           std::span<Statistic> statistics) const;
  /// Sets the rows of steps that are switched off to 0, in a trace that begins with local step
  /// `first`.
  void silence(int64_t first, NormTrace& trace) const;
  /// From ∂L/∂y to ∂L/∂x of the stored steps, at the working steps: in place, or, for a constant
  /// current, the sum over steps.
  GradientBuffer norm_backward(const kernels::NeuronShape& shape, const BranchTrace& trace,
                               const NormGradient& rows, GradientBuffer gradient) const;
  void synapse_gradients(const Signal& input, const GradientBuffer& gradient, Arithmetic arithmetic,
                         const Gradients& gradients, bool weighted) const;
  GradientBuffer input_gradient(const Signal& input, const float* weights, Precision precision,
                                GradientBuffer gradient) const;
  /// The runs of stored steps whose frames the synapse's backward takes at once.
  std::vector<StepRun> backward_runs(const Signal& input) const;
  const Buffer<float>* bias(const BranchNumbers& numbers) const;
  /// The units of the currents that this input makes, one for each channel; empty: they are what
  /// they say.
  static std::span<const float> units(const BranchNumbers& numbers, const Signal& input);
  /// What the norm sees: moments in true units, of currents with their bias.
  void finish(std::span<const float> units, const BranchNumbers& numbers,
              RowMoments& moments) const;
  /// What the neurons see: an affine map of currents in their own units, without bias.
  void finish(int64_t run_step, std::span<const float> units, const BranchNumbers& numbers,
              NormTrace& trace) const;
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
  WorkingSteps working_;
};

bool is_constant(const Signal& input);
Arithmetic arithmetic_of(Precision precision);

/// A trace in the form that the neurons' kernels read.
kernels::Affine affine_of(const NormTrace& trace);
kernels::Currents currents_of(const BranchTrace& trace, const kernels::NeuronShape& shape);

}  // namespace bntt
