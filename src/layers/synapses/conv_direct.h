#pragma once

#include <memory>
#include <mutex>

#include "kernels/dense_convolution.h"
#include "kernels/unpack.h"
#include "layers/synapses/way.h"

namespace bntt {

/// Convolution of real values by oneDNN's direct algorithm: any kernel, stride and padding.
class ConvDirect final : public SynapseWay {
 public:
  explicit ConvDirect(const BranchPlan& plan);
  static bool suits(const BranchPlan& /*plan*/) { return true; }

  const char* name() const override { return "direct"; }
  /// Spikes of few channels are always walked: making them dense costs more than it saves.
  bool does(SynapseOperation operation, InputKind input) const override;
  double cost(SynapseOperation operation, double density,
              const BreakEven& break_even) const override;
  double work_share(InputKind /*input*/, double /*density*/) const override { return 1.0; }

  Buffer<float> pack(const float* weights, const std::vector<float>& plane_weights) const override;
  int64_t frames_together() const override { return chunk_; }
  void forward(const Signal& input, std::span<const int64_t> frames, const WayWeights& weights,
               const FramePlace& place) const override;
  void weight_gradient(const Signal& input, kernels::GradientView current_gradient,
                       float* weight_gradient) const override;
  void input_gradient(kernels::GradientView current_gradient, const float* weights, int64_t frames,
                      kernels::GradientPlace input_gradient) const override;

 private:
  /// Created on first use: if Winograd's algorithm is faster, it is never needed.
  const kernels::DenseConvolution& dense() const;

  MapShape input_;
  MapShape output_;
  ConvGeometry geometry_;
  kernels::PooledMap map_;
  bool wide_;
  bool slower_than_winograd_;
  int64_t chunk_;
  mutable std::once_flag made_;
  mutable std::unique_ptr<kernels::DenseConvolution> dense_;
};

}  // namespace bntt
