#pragma once

#include <functional>
#include <memory>

#include "bntt/break_even.h"
#include "bntt/declaration.h"
#include "bntt/network_spec.h"
#include "bntt/signal.h"
#include "layers/synapses/way.h"

namespace bntt {

class PreparedWeights;

/// Called with frames [first, end) once their currents are written, by the thread that wrote them:
/// they are still in its cache. It may change them.
using FramesWritten = std::function<void(int64_t first, int64_t end, float* currents)>;

/// Frames at which a synapse rests, so that nobody wants its currents: [frame]; empty: it always
/// works.
using RestingFrames = std::vector<bool>;

/// Some channels of one row of a frame: [x, channel], pixels `stride` floats apart.
struct RowView {
  const float* values = nullptr;
  int64_t stride = 0;
};

/// The currents of all frames, a row of a block of channels at a time.
class CurrentRows {
 public:
  virtual ~CurrentRows() = default;
  /// `scratch` has room for a row of a block; the result may lie there.
  virtual RowView row(int64_t frame, int64_t block, int64_t y, float* scratch) const = 0;
};

/// The weighted connections of a branch. Time-free: the steps of a window are just more frames, one
/// frame being one image at one step. Reads its input through the pool that precedes it. The bias,
/// where there is one, is declared here and applied by the branch, together with the norm.
class Synapse {
 public:
  explicit Synapse(const BranchPlan& plan);

  std::vector<ParameterDeclaration> parameters() const;
  const SynapseWays& ways() const { return ways_; }
  /// The cheapest way that does this; of bf16 only where `arithmetic` allows it.
  const SynapseWay& way_for(SynapseOperation operation, InputKind input, double density,
                            Arithmetic arithmetic = Arithmetic::fp32) const;

  /// Densities at which a walk of spikes costs as much as a dense way of fp32.
  void set_break_even(const BreakEven& break_even) { break_even_ = break_even; }

  /// current [stored step, batch, y, x, channel] = W · input. `written` is called once per frame.
  /// If `current` is null, the callback is the only place that sees the values; it may be empty
  /// otherwise. Frames at rest are not computed: their currents are 0.
  void forward(const Signal& input, const PreparedWeights& weights, float* current,
               const FramesWritten& written, Arithmetic arithmetic = Arithmetic::fp32,
               const RestingFrames& resting = {}) const;

  /// Whether rows() is there for this input.
  bool makes_rows(const Signal& input) const;
  /// The currents of forward() row by row, for those who need not keep them. Frames at rest have no
  /// rows.
  std::unique_ptr<CurrentRows> rows(const Signal& input, const PreparedWeights& weights,
                                    const RestingFrames& resting = {}) const;
  /// Channels of a block of rows().
  int64_t block_channels() const;

  /// Overwrites the weight gradient [tap or pixel, in, out].
  void weight_gradient(const Signal& input, const float* current_gradient, float* weight_gradient,
                       Arithmetic arithmetic = Arithmetic::fp32) const;

  /// Gradient at the pooled input [frame, y, x, channel], for `frames` frames. It may overwrite the
  /// current's gradient where both have the same size.
  void input_gradient(const float* current_gradient, const float* weights, int64_t frames,
                      float* input_gradient, Arithmetic arithmetic = Arithmetic::fp32) const;

 private:
  class Rows;
  /// The way of every stored frame; null where it rests. Each frame by its own density: what an
  /// image gets cannot depend on the others of its batch.
  std::vector<const SynapseWay*> ways_of_frames(const Signal& input, Arithmetic arithmetic,
                                                const RestingFrames& resting) const;

  BranchPlan plan_;
  SynapseWays ways_;
  BreakEven break_even_;
};

/// Frames that a signal really stores: batch x steps, or batch alone when it is constant.
int64_t stored_frames(const Signal& signal);

}  // namespace bntt
