#pragma once

#include <functional>
#include <memory>

#include "base/check.h"
#include "bntt/break_even.h"
#include "bntt/network_spec.h"
#include "bntt/signal.h"

namespace bntt {

/// A synapse's weights in the layouts that its forward pass reads, made when first needed. Refers
/// to the weights it was made from: they must stay as they are while it is used.
class PreparedWeights {
 public:
  virtual ~PreparedWeights() = default;
};

/// Told of frames [first, end) once their currents are written, by the thread that wrote them: what
/// it reads there is still in its cache. It may change them.
using FramesWritten = std::function<void(int64_t first, int64_t end, float* currents)>;

/// Some channels of one row of a frame, before it is stored anywhere.
struct CurrentRow {
  int64_t step = 0;
  int64_t image = 0;
  int64_t y = 0;
  int64_t first_channel = 0;
  int64_t channels = 0;
  const float* values = nullptr;  // [x, channel]
  int64_t stride = 0;             // floats from pixel to pixel
};

/// Takes a row over, on the thread that made it. For one row and block of channels the steps come
/// in order, and no two at once.
using RowMade = std::function<void(const CurrentRow& row)>;

/// The weighted connections of a stage. Time-free: the steps of a window are just more frames, one
/// frame being one image at one step. Reads its input through the pool that precedes the stage.
class Synapse {
 public:
  virtual ~Synapse() = default;

  virtual std::unique_ptr<PreparedWeights> prepare(const float* weights) const = 0;

  /// current [stored step, batch, y, x, channel] = W · input. `written` hears of every frame once.
  /// Without a place for currents it is the only one to see them.
  virtual void forward(const Signal& input, const PreparedWeights& weights, float* current,
                       const FramesWritten& written) const = 0;

  /// Whether `forward_by_rows` is there for this input.
  virtual bool makes_rows(const Signal& /*input*/) const { return false; }
  /// The currents of `forward` row by row, for those who need not keep them.
  virtual void forward_by_rows(const Signal& /*input*/, const PreparedWeights& /*weights*/,
                               const RowMade& /*made*/) const {
    BNTT_CHECK(!"this synapse makes no rows");
  }

  /// Overwrites the weight gradient [tap or pixel, in, out].
  virtual void weight_gradient(const Signal& input, const float* current_gradient,
                               float* weight_gradient) const = 0;

  /// Gradient at the pooled input [frame, y, x, channel], for `frames` frames. It may overwrite the
  /// current's gradient where both have the same size.
  virtual void input_gradient(const float* current_gradient, const float* weights, int64_t frames,
                              float* input_gradient) const = 0;

  /// For synapses that have a sparse and a dense way.
  virtual void set_break_even(const BreakEven&) {}
};

std::unique_ptr<Synapse> make_synapse(const StagePlan& plan);

/// Frames that a signal really stores: batch x steps, or batch alone when it is constant.
int64_t stored_frames(const Signal& signal);

}  // namespace bntt
