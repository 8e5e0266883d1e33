#pragma once

#include "kernels/unpack.h"
#include "kernels/winograd.h"
#include "layers/synapses/way.h"

namespace bntt {

/// 3x3 convolution of real values by Winograd's algorithm: the same time at any density.
class ConvWinograd final : public SynapseWay {
 public:
  explicit ConvWinograd(const BranchPlan& plan);
  /// With fewer than eight channels the transforms cost what the products save.
  static bool suits(const BranchPlan& plan) {
    return plan.geometry.is_same_3x3() && plan.input.channels >= 8 && plan.output.channels >= 8;
  }

  const char* name() const override { return "winograd"; }
  bool does(SynapseOperation /*operation*/, InputKind /*input*/) const override { return true; }
  double cost(SynapseOperation /*operation*/, double /*density*/,
              const BreakEven& /*break_even*/) const override {
    return 1.0;
  }
  double work_share(InputKind /*input*/, double /*density*/) const override { return 36.0 / 144.0; }

  Buffer<float> pack(const float* weights, const std::vector<float>& plane_weights) const override;
  /// Frames that fill a few blocks of tiles.
  int64_t frames_together() const override;
  void forward(const Signal& input, std::span<const int64_t> frames, const WayWeights& weights,
               const FramePlace& place) const override;
  void weight_gradient(const Signal& input, const float* current_gradient,
                       float* weight_gradient) const override;
  void input_gradient(const float* current_gradient, const float* weights, int64_t frames,
                      float* input_gradient) const override;

 private:
  kernels::PooledMap map_;
  kernels::WinogradConvolution there_;  // from input to output
  kernels::WinogradConvolution back_;   // from output to input
};

}  // namespace bntt
