#pragma once

#include "kernels/unpack.h"
#include "layers/synapses/way.h"

namespace bntt {

/// Convolution in plain loops over taps and channels, with sums in fp64. Every other way is
/// compared with it.
class ConvReference final : public SynapseWay {
 public:
  explicit ConvReference(const BranchPlan& plan);
  static bool suits(const BranchPlan& /*plan*/) { return true; }

  const char* name() const override { return "reference"; }
  bool does(SynapseOperation /*operation*/, InputKind /*input*/) const override { return true; }
  double cost(SynapseOperation /*operation*/, double /*density*/,
              const BreakEven& /*break_even*/) const override {
    return kReferenceCost;
  }
  double work_share(InputKind /*input*/, double /*density*/) const override { return 1.0; }

  void forward(const Signal& input, std::span<const int64_t> frames, const WayWeights& weights,
               const FramePlace& place) const override;
  void weight_gradient(const Signal& input, kernels::GradientView current_gradient,
                       float* weight_gradient) const override;
  void input_gradient(kernels::GradientView current_gradient, const float* weights, int64_t frames,
                      kernels::GradientPlace input_gradient) const override;

 private:
  kernels::PooledMap map_;
  MapShape input_;
  MapShape output_;
  ConvGeometry geometry_;
};

}  // namespace bntt
