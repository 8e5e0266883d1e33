#pragma once

#include "layers/synapses/way.h"

namespace bntt {

/// The input gradient of a fully connected synapse with products in bf16. Forward and weight
/// gradient walk the spikes, which is faster at every density.
class DenseBf16 final : public SynapseWay {
 public:
  explicit DenseBf16(const BranchPlan& plan)
      : inputs_(plan.input.size()), outputs_(plan.output.channels) {}
  static bool suits(const BranchPlan& /*plan*/) { return true; }

  const char* name() const override { return "matmul-bf16"; }
  Arithmetic arithmetic() const override { return Arithmetic::bf16; }
  bool does(SynapseOperation operation, InputKind /*input*/) const override {
    return operation == SynapseOperation::input_gradient;
  }
  double cost(SynapseOperation /*operation*/, double /*density*/,
              const BreakEven& /*break_even*/) const override {
    return 0.5;
  }
  /// One bf16 instruction multiplies twice as many numbers as one of fp32.
  double work_share(InputKind /*input*/, double /*density*/) const override { return 0.5; }

  void forward(const Signal& input, std::span<const int64_t> frames, const WayWeights& weights,
               const FramePlace& place) const override;
  void input_gradient(kernels::GradientView current_gradient, const float* weights, int64_t frames,
                      kernels::GradientPlace input_gradient) const override;

 private:
  int64_t inputs_;
  int64_t outputs_;
};

}  // namespace bntt
