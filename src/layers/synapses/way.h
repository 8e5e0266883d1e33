#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/check.h"
#include "bntt/break_even.h"
#include "bntt/network_spec.h"
#include "bntt/signal.h"
#include "kernels/gradient_view.h"
#include "layers/synapses/frame_rows.h"

namespace bntt {

enum class SynapseOperation { forward, weight_gradient, input_gradient };

/// The numbers that a way computes with.
enum class Arithmetic {
  fp32,
  bf16,  ///< dense products of bf16, added in fp32
  int8,  ///< sums of int8 weights, exact; currents are then in units of the weights' scales
};

/// The properties of a synapse's input that the choice of a way depends on.
struct InputKind {
  int64_t planes = 0;  // of spikes; 0 for real values
  /// Σ of the planes' |weights|; infinite unless all of them are whole numbers.
  double largest_value = std::numeric_limits<double>::infinity();

  bool spikes() const { return planes > 0; }
  static InputKind of(const Signal& input) {
    const auto* spikes = std::get_if<SpikeTrain>(&input);
    if (spikes == nullptr) return {};
    InputKind kind{.planes = spikes->planes(), .largest_value = 0.0};
    for (const float weight : spikes->plane_weights()) {
      const bool whole = weight == std::trunc(weight);
      kind.largest_value += whole ? std::abs(weight) : std::numeric_limits<double>::infinity();
    }
    return kind;
  }
};

/// The weights of a synapse, plain and as packed by the way.
struct WayWeights {
  const float* plain = nullptr;              // [tap or pixel, in, out]
  const float* packed = nullptr;             // null if the way packs nothing
  const int16_t* packed_integers = nullptr;  // for ways of int8
};

/// One way to compute a synapse. The ways of a synapse are kept in one list, the plain reference
/// last: the synapse chooses from it by cost, `bntt bench` names and times the chosen ones, the
/// break-even is measured on it, and the tests compare every entry with the last.
class SynapseWay {
 public:
  virtual ~SynapseWay() = default;

  virtual const char* name() const = 0;
  virtual bool does(SynapseOperation operation, InputKind input) const = 0;
  /// Ways in bf16 and in int8 are chosen only for callers that ask for them.
  virtual Arithmetic arithmetic() const { return Arithmetic::fp32; }

  /// The time it takes at `density` spikes per position of the pooled input, relative to the
  /// fastest dense way in fp32. For ways whose work is proportional to the spikes, it is below 1 up
  /// to the break-even.
  virtual double cost(SynapseOperation operation, double density,
                      const BreakEven& break_even) const = 0;

  /// Its multiply-adds, as a fraction of those of a plain dense loop.
  virtual double work_share(InputKind input, double density) const = 0;

  // Forward. -----------------------------------------------------------------------------------

  /// The weights in the layout that forward() and rows() read; empty if they read plain weights.
  virtual Buffer<float> pack(const float* /*weights*/,
                             const std::vector<float>& /*plane_weights*/) const {
    return {};
  }
  /// The same for ways of int8, from whole numbers [tap or pixel, in, out].
  virtual Buffer<int16_t> pack_integers(const int8_t* /*weights*/,
                                        const std::vector<float>& /*plane_weights*/) const {
    return {};
  }
  virtual bool packs_plane_weights() const { return false; }

  /// Best number of frames for one call of forward(), as a unit of work for one thread. kAllFrames:
  /// it takes all of them in one call and parallelises the work itself.
  static constexpr int64_t kAllFrames = std::numeric_limits<int64_t>::max();
  virtual int64_t frames_together() const { return 1; }

  /// Writes the currents of the given frames, which are in ascending order: [y, x, channel] each.
  virtual void forward(const Signal& input, std::span<const int64_t> frames,
                       const WayWeights& weights, const FramePlace& place) const = 0;

  /// Whether rows() is available, so that a row of currents can be computed on its own.
  virtual bool makes_rows() const { return false; }
  /// Rows of frames [first, first + count); input and weights must outlive the result.
  virtual std::unique_ptr<FrameRows> rows(const SpikeTrain& /*input*/, int64_t /*first*/,
                                          int64_t /*count*/, const WayWeights& /*weights*/) const {
    BNTT_CHECK(!"this way makes no rows");
  }

  // Backward. ----------------------------------------------------------------------------------

  /// Overwrites the weight gradient [tap or pixel, in, out].
  virtual void weight_gradient(const Signal& /*input*/, kernels::GradientView /*current_gradient*/,
                               float* /*weight_gradient*/) const {
    BNTT_CHECK(!"this way has no weight gradient");
  }

  /// Gradient of the pooled input [frame, y, x, channel], for `frames` frames. It may overwrite the
  /// gradient of the current if both have the same size and number format.
  virtual void input_gradient(kernels::GradientView /*current_gradient*/, const float* /*weights*/,
                              int64_t /*frames*/, kernels::GradientPlace /*input_gradient*/) const {
    BNTT_CHECK(!"this way has no input gradient");
  }
};

using SynapseWays = std::vector<std::unique_ptr<SynapseWay>>;

/// All ways of a synapse, fastest first, the reference last.
SynapseWays make_ways(const BranchPlan& plan);

/// The cost of ways whose work is proportional to the spikes.
inline double walking_cost(double density, double break_even) {
  return break_even > 0.0 ? density / break_even : std::numeric_limits<double>::infinity();
}
/// Never chosen if there is another way.
inline constexpr double kReferenceCost = std::numeric_limits<double>::infinity();

}  // namespace bntt
