#pragma once

#include "kernels/spike_matmul.h"
#include "kernels/unpack.h"
#include "layers/synapses/way.h"

namespace bntt {

/// Fully connected synapse of spikes, which select the rows to be summed in the forward pass and
/// for the weight gradient. Inputs are the pooled map flattened as [y, x, channel].
class DenseWalk : public SynapseWay {
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
  void weight_gradient(const Signal& signal, kernels::GradientView current_gradient,
                       float* weight_gradient) const override;

 protected:
  DenseWalk(const BranchPlan& plan, int64_t block);

  /// The weight rows that each of `count` lists selects, summed and times `factor`.
  struct ListedSums {
    kernels::SpikeLists lists;
    int64_t count = 0;
    float factor = 1.0F;
    bool accumulate = false;
    float* current = nullptr;  // [list, output]
  };
  /// Of one block of columns.
  virtual void sum_block(const ListedSums& sums, int64_t block, const WayWeights& weights) const;

  int64_t inputs_;
  int64_t outputs_;
  int64_t block_;  // columns whose sums stay in registers

 private:
  /// Frames [first, first + count), whose spikes are listed together.
  void forward_group(const SpikeTrain& input, int64_t first, int64_t count,
                     const WayWeights& weights, float* current) const;

  kernels::PooledMap map_;
};

/// The same with weights of int8.
class DenseWalkInt8 final : public DenseWalk {
 public:
  explicit DenseWalkInt8(const BranchPlan& plan);

  const char* name() const override { return "walk-int8"; }
  Arithmetic arithmetic() const override { return Arithmetic::int8; }
  bool does(SynapseOperation operation, InputKind input) const override {
    return operation == SynapseOperation::forward && input.spikes();
  }
  /// Three operations for what takes four in fp32.
  double work_share(InputKind /*input*/, double density) const override { return 0.75 * density; }

  Buffer<int16_t> pack_integers(const int8_t* weights,
                                const std::vector<float>& plane_weights) const override;

 private:
  void sum_block(const ListedSums& sums, int64_t block, const WayWeights& weights) const override;
};

}  // namespace bntt
