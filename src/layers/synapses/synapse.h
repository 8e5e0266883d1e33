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

/// Called with frames [first, end) once their currents are written, by the thread that wrote them,
/// while they are still in its cache. It may change them.
using FramesWritten = std::function<void(int64_t first, int64_t end, float* currents)>;

/// Frames at which a synapse rests, so that nobody wants its currents: [frame]; empty: it always
/// works.
using RestingFrames = std::vector<bool>;

/// Some channels of one row of a frame: [x, channel], pixels `stride` floats apart.
struct RowView {
  const float* values = nullptr;
  int64_t stride = 0;
};

/// The currents of all frames, one row of a block of channels at a time.
class CurrentRows {
 public:
  virtual ~CurrentRows() = default;
  /// `scratch` has room for a row of a block; the returned view may point into it.
  virtual RowView row(int64_t frame, int64_t block, int64_t y, float* scratch) const = 0;
};

/// The weighted connections of a branch. Time-free: the steps of a window are just more frames; a
/// frame is one image at one step. Reads its input through the pool that precedes it. The bias, if
/// there is one, is declared here and applied by the branch, together with the norm.
class Synapse {
 public:
  explicit Synapse(const BranchPlan& plan);

  std::vector<ParameterDeclaration> parameters() const;
  const SynapseWays& ways() const { return ways_; }
  const MapShape& output() const { return plan_.output; }
  /// The cheapest way for this operation; bf16 ways only if `arithmetic` allows them, int8 ways
  /// only if it is int8.
  const SynapseWay& way_for(SynapseOperation operation, InputKind input, double density,
                            Arithmetic arithmetic = Arithmetic::fp32) const;

  /// Densities at which walking the spikes costs as much as a dense way in fp32.
  void set_break_even(const BreakEven& break_even) { break_even_ = break_even; }

  /// current [stored step, batch, y, x, channel] = W · input. `written` is called once per frame.
  /// If `current` is null, the callback is the only place that sees the values; otherwise it may be
  /// empty. Where the weights have scales and the input is spikes, the values are in units of the
  /// scales: whole numbers. Frames at rest are not computed: their currents are 0.
  void forward(const Signal& input, const PreparedWeights& weights, float* current,
               const FramesWritten& written, Arithmetic arithmetic = Arithmetic::fp32,
               const RestingFrames& resting = {}) const;

  /// Whether rows() is available for this input.
  bool makes_rows(const Signal& input) const;
  /// The currents of forward() row by row, for callers that need not store them. Frames at rest
  /// have no rows.
  std::unique_ptr<CurrentRows> rows(const Signal& input, const PreparedWeights& weights,
                                    const RestingFrames& resting = {}) const;
  /// Channels of a block of rows().
  int64_t block_channels() const;

  /// Overwrites the weight gradient [tap or pixel, in, out].
  void weight_gradient(const Signal& input, kernels::GradientView current_gradient,
                       float* weight_gradient, Arithmetic arithmetic = Arithmetic::fp32) const;

  /// Gradient of the pooled input [frame, y, x, channel], for `frames` frames. It may overwrite the
  /// gradient of the current if both have the same size and number format.
  void input_gradient(kernels::GradientView current_gradient, const float* weights, int64_t frames,
                      kernels::GradientPlace input_gradient,
                      Arithmetic arithmetic = Arithmetic::fp32) const;

 private:
  class Rows;
  /// The way for every stored frame; null if it rests. Each is chosen by the frame's own density:
  /// the result for an image must not depend on the rest of its batch.
  std::vector<const SynapseWay*> ways_of_frames(const Signal& input, Arithmetic arithmetic,
                                                const RestingFrames& resting) const;

  BranchPlan plan_;
  SynapseWays ways_;
  BreakEven break_even_;
};

/// Frames that a signal stores: batch x steps, or only batch if it is constant.
int64_t stored_frames(const Signal& signal);

}  // namespace bntt
