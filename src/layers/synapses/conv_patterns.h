#pragma once

#include "kernels/pattern_convolution.h"
#include "layers/synapses/way.h"

namespace bntt {

/// 3x3 convolution of spikes with few bits per pixel, with a table of the sums that their patterns
/// select.
class ConvPatterns : public SynapseWay {
 public:
  explicit ConvPatterns(const BranchPlan& plan);
  /// Requires at least one plane.
  static bool suits(const BranchPlan& plan);

  const char* name() const override { return "table"; }
  bool does(SynapseOperation operation, InputKind input) const override;
  double cost(SynapseOperation /*operation*/, double /*density*/,
              const BreakEven& /*break_even*/) const override {
    return 0.0;
  }
  double work_share(InputKind input, double density) const override;

  Buffer<float> pack(const float* weights, const std::vector<float>& plane_weights) const override;
  bool packs_plane_weights() const override { return true; }
  int64_t frames_together() const override;
  void forward(const Signal& input, std::span<const int64_t> frames, const WayWeights& weights,
               const FramePlace& place) const override;
  bool makes_rows() const override { return true; }
  std::unique_ptr<FrameRows> rows(const SpikeTrain& input, int64_t first, int64_t count,
                                  const WayWeights& weights) const override;

 protected:
  kernels::PatternConvolution shape(int64_t planes) const;

  kernels::PooledMap map_;

 private:
  MapShape output_;
  int64_t block_channels_;
};

/// The same with weights of int8 and sums of 16 bits: half the table.
class ConvPatternsInt8 final : public ConvPatterns {
 public:
  using ConvPatterns::ConvPatterns;

  const char* name() const override { return "table-int8"; }
  Arithmetic arithmetic() const override { return Arithmetic::int8; }
  bool does(SynapseOperation operation, InputKind input) const override;
  double work_share(InputKind input, double density) const override {
    return 0.5 * ConvPatterns::work_share(input, density);
  }

  Buffer<int16_t> pack_integers(const int8_t* weights,
                                const std::vector<float>& plane_weights) const override;
  std::unique_ptr<FrameRows> rows(const SpikeTrain& input, int64_t first, int64_t count,
                                  const WayWeights& weights) const override;
};

}  // namespace bntt
