#pragma once

#include "kernels/unpack.h"
#include "layers/synapses/way.h"

namespace bntt {

/// Fully connected synapse of spikes, which select the rows to be summed in the forward pass and
/// for the weight gradient. Inputs are the pooled map flattened as [y, x, channel].
class DenseWalk final : public SynapseWay {
 public:
  explicit DenseWalk(const BranchPlan& plan);
  static bool suits(const BranchPlan& /*plan*/) { return true; }

  const char* name() const override { return "walk"; }
  bool does(SynapseOperation operation, InputKind input) const override {
    return operation != SynapseOperation::input_gradient && input.spikes();
  }
  /// Spikes are summed at every density: they are never dense enough for a matrix product to pay.
  double cost(SynapseOperation /*operation*/, double /*density*/,
              const BreakEven& /*break_even*/) const override {
    return 0.5;
  }
  double work_share(InputKind /*input*/, double density) const override { return density; }

  Buffer<float> pack(const float* weights, const std::vector<float>& plane_weights) const override;
  int64_t frames_together() const override { return kAllFrames; }
  void forward(const Signal& input, std::span<const int64_t> frames, const WayWeights& weights,
               const FramePlace& place) const override;
  void weight_gradient(const Signal& signal, const float* current_gradient,
                       float* weight_gradient) const override;

 private:
  /// Processes frames [first, first + count), whose spikes are listed together.
  void forward_group(const SpikeTrain& input, int64_t first, int64_t count, const float* table,
                     float* current) const;

  kernels::PooledMap map_;
  int64_t inputs_;
  int64_t outputs_;
  int64_t block_;  // columns whose sums stay in registers
};

}  // namespace bntt
