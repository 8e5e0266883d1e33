#pragma once

#include "kernels/unpack.h"
#include "layers/synapses/way.h"

namespace bntt {

/// The current is the input itself, read through its pool: the shortcut of a residual network. It
/// has no weights and only one way.
class Identity final : public SynapseWay {
 public:
  explicit Identity(const BranchPlan& plan);
  static bool suits(const BranchPlan& /*plan*/) { return true; }

  const char* name() const override { return "identity"; }
  bool does(SynapseOperation operation, InputKind /*input*/) const override {
    return operation != SynapseOperation::weight_gradient;
  }
  double cost(SynapseOperation /*operation*/, double /*density*/,
              const BreakEven& /*break_even*/) const override {
    return 0.0;
  }
  double work_share(InputKind /*input*/, double /*density*/) const override { return 0.0; }

  int64_t frames_together() const override { return 1; }
  void forward(const Signal& input, std::span<const int64_t> frames, const WayWeights& weights,
               const FramePlace& place) const override;
  bool makes_rows() const override { return true; }
  std::unique_ptr<FrameRows> rows(const SpikeTrain& input, int64_t first, int64_t count,
                                  const WayWeights& weights) const override;
  void input_gradient(kernels::GradientView current_gradient, const float* weights, int64_t frames,
                      kernels::GradientPlace input_gradient) const override;

 private:
  class Rows;
  kernels::PooledMap map_;
  int64_t block_channels_;
};

}  // namespace bntt
