#pragma once

#include <memory>
#include <vector>

#include "bntt/network.h"
#include "kernels/neuron.h"
#include "layers/neurons/neurons.h"
#include "layers/norms/norm.h"
#include "layers/synapse.h"

namespace bntt {

/// The numbers that a stage works with; the network owns them.
struct StageNumbers {
  const float* weights = nullptr;             // [tap or pixel, in, out]
  const PreparedWeights* prepared = nullptr;  // of the same weights, for the forward direction
  const float* gain = nullptr;                // [step or 1, channel]; null where the norm has no γ
};

/// Synapse → norm → neurons, over a window of steps. Holds no state and no numbers: those are
/// arguments.
class Stage {
 public:
  Stage(const StagePlan& plan, int64_t run_steps, Propagation propagation);

  const Norm& norm() const { return *norm_; }
  std::unique_ptr<PreparedWeights> prepare(const float* weights) const {
    return synapse_->prepare(weights);
  }
  void set_break_even(const BreakEven& break_even) { synapse_->set_break_even(break_even); }

  struct ForwardOptions {
    NormMode mode = NormMode::batch;
    Precision precision = Precision::fp32;
    Keep keep = Keep::everything;
  };

  /// Training's window: all active steps from rest. `voltage` receives the readout's sum (null for
  /// hidden stages). Keeps: one bit (or float, for ReLU) and one float per neuron-step, or half a
  /// float in mixed precision.
  StageTrace forward(const Signal& input, const StageNumbers& numbers,
                     const ForwardOptions& options, RunningStatistics& running,
                     Buffer<float>* voltage) const;

  struct AdvanceOptions {
    const std::vector<bool>* active = nullptr;  // [step of the run]; null: the synapse always works
    Buffer<float>* constant_current = nullptr;  // of a constant input: used, or filled when empty
  };

  /// A window of the stage's local steps, from `first` on, in evaluation form.
  Signal advance(const Signal& input, int64_t first, const StageNumbers& numbers,
                 const RunningStatistics& running, Buffer<float>& carry,
                 const AdvanceOptions& options) const;

  struct Arriving {
    Buffer<float> gradient;  // [step, batch, y, x, channel] behind `pool`; for the readout
                             // ∂L/∂voltage [batch, class]
    kernels::PooledMap pool;
  };
  struct Gradients {
    float* weights = nullptr;
    float* gain = nullptr;
  };

  /// Writes the gradients of the stage's numbers; returns the gradient at its pooled input [stored
  /// step, batch, y, x, channel], or nothing if that is not wanted.
  Buffer<float> backward(const Signal& input, StageTrace trace, const StageNumbers& numbers,
                         const ForwardOptions& options, Arriving arriving,
                         const Gradients& gradients, bool want_input_gradient) const;

 private:
  struct Window {
    kernels::NeuronShape shape;
    RowSplit rows;
    bool constant_current = false;
  };
  Window window_of(const Signal& input) const;
  Signal work(const Signal& input, int64_t first, const StageNumbers& numbers,
              const RunningStatistics& running, Buffer<float>& carry,
              Buffer<float>& constant_current) const;
  /// Without storing currents: neurons take each row while it is in cache.
  bool can_work_by_rows(const Signal& input) const;
  SpikeTrain work_by_rows(const Signal& input, int64_t first, const StageNumbers& numbers,
                          const RunningStatistics& running, Buffer<float>& carry) const;
  bool worth_keeping(const Window& window) const;
  Signal rest(const Window& window, Buffer<float>& carry) const;
  /// What is made of the currents while they are written.
  struct Wanted {
    bool halves = false;  // rounded to bf16 and kept as such, instead of floats
    bool moments = false;
  };
  struct Written {
    Buffer<float> current;
    Buffer<uint16_t> halves;
    RowMoments moments;
  };
  static RowMoments moments_of(const Window& window, const Buffer<float>& current);
  Written write_currents(const Signal& input, const Window& window, const PreparedWeights& weights,
                         const Wanted& wanted) const;
  void fold_gain(const float* gain, int64_t first, NormTrace& trace) const;
  static kernels::Currents view(const Window& window, const Buffer<float>& current,
                                const Buffer<uint16_t>& halves);

  StagePlan plan_;
  int64_t run_steps_;
  std::unique_ptr<Synapse> synapse_;
  std::unique_ptr<Norm> norm_;
  std::unique_ptr<Neurons> neurons_;
};

}  // namespace bntt
