#pragma once

#include "kernels/spike_convolution.h"
#include "layers/synapses/way.h"

namespace bntt {

/// Convolution of spikes, bit by bit: the work is proportional to the number of spikes.
class ConvWalk : public SynapseWay {
 public:
  explicit ConvWalk(const BranchPlan& plan);
  static bool suits(const BranchPlan& /*plan*/) { return true; }

  const char* name() const override { return "walk"; }
  bool does(SynapseOperation operation, InputKind input) const override {
    return operation != SynapseOperation::input_gradient && input.spikes();
  }
  double cost(SynapseOperation operation, double density,
              const BreakEven& break_even) const override;
  double work_share(InputKind /*input*/, double density) const override { return density; }

  Buffer<float> pack(const float* weights, const std::vector<float>& plane_weights) const override;
  int64_t frames_together() const override;
  void forward(const Signal& input, std::span<const int64_t> frames, const WayWeights& weights,
               const FramePlace& place) const override;
  bool makes_rows() const override { return true; }
  std::unique_ptr<FrameRows> rows(const SpikeTrain& input, int64_t first, int64_t count,
                                  const WayWeights& weights) const override;
  void weight_gradient(const Signal& signal, kernels::GradientView current_gradient,
                       float* weight_gradient) const override;

 protected:
  class Lists;
  kernels::SpikeConvolution shape_;

 private:
  class Rows;
  MapShape output_;
};

/// The same with weights of int8, at every density: their sums are so much faster that dense
/// products of floats hardly pay, and exact.
class ConvWalkInt8 final : public ConvWalk {
 public:
  using ConvWalk::ConvWalk;

  const char* name() const override { return "walk-int8"; }
  Arithmetic arithmetic() const override { return Arithmetic::int8; }
  bool does(SynapseOperation operation, InputKind input) const override {
    return operation == SynapseOperation::forward && input.spikes();
  }
  double cost(SynapseOperation /*operation*/, double /*density*/,
              const BreakEven& /*break_even*/) const override {
    return 0.5;
  }
  /// Three operations for what takes four in fp32.
  double work_share(InputKind /*input*/, double density) const override { return 0.75 * density; }

  Buffer<int16_t> pack_integers(const int8_t* weights,
                                const std::vector<float>& plane_weights) const override;
  std::unique_ptr<FrameRows> rows(const SpikeTrain& input, int64_t first, int64_t count,
                                  const WayWeights& weights) const override;

 private:
  class Rows;
};

}  // namespace bntt
