#pragma once

#include "kernels/bf16_kernels.h"
#include "kernels/unpack.h"
#include "kernels/winograd.h"
#include "layers/synapses/break_even_formula.h"
#include "layers/synapses/way.h"

namespace bntt {

/// 3x3 convolution of real values by Winograd's algorithm: takes the same time at any density.
class ConvWinograd : public SynapseWay {
 public:
  explicit ConvWinograd(const BranchPlan& plan);
  /// With fewer than eight channels, the transforms cost as much as the products save.
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
  void weight_gradient(const Signal& input, kernels::GradientView current_gradient,
                       float* weight_gradient) const override;
  void input_gradient(kernels::GradientView current_gradient, const float* weights, int64_t frames,
                      kernels::GradientPlace input_gradient) const override;

 protected:
  using PackWeights = decltype(kernels::pack_winograd_weights);
  using UnpackGradient = decltype(kernels::unpack_winograd_gradient);
  /// The kernels of one number format, which share their types and the sizes of their memory.
  struct Kernels {
    kernels::WinogradForward* forward;
    kernels::WinogradWeightGradient* weight_gradient;
    PackWeights* pack;
    PackWeights* pack_reversed;
    UnpackGradient* unpack_gradient;
    int64_t panel;
  };
  ConvWinograd(const BranchPlan& plan, const Kernels& kernels);

 private:
  void convolve(const kernels::WinogradConvolution& convolution, const float* packed_weights,
                const std::vector<const float*>& inputs, const std::vector<float*>& outputs) const;

  Kernels kernels_;
  kernels::PooledMap map_;
  kernels::WinogradConvolution there_;  // from input to output
  kernels::WinogradConvolution back_;   // from output to input
};

/// The same with products in bf16: about twice as fast if the processor has an instruction for
/// them, with an error of about a hundredth of the result instead of a millionth.
class ConvWinogradBf16 final : public ConvWinograd {
 public:
  explicit ConvWinogradBf16(const BranchPlan& plan);

  const char* name() const override { return "winograd-bf16"; }
  Arithmetic arithmetic() const override { return Arithmetic::bf16; }
  double cost(SynapseOperation /*operation*/, double /*density*/,
              const BreakEven& /*break_even*/) const override {
    return kBf16DenseCost;
  }
  /// One bf16 instruction multiplies twice as many numbers as one of fp32.
  double work_share(InputKind /*input*/, double /*density*/) const override { return 18.0 / 144.0; }
};

}  // namespace bntt
