#pragma once

#include <memory>

#include "bntt/network_spec.h"
#include "bntt/signal.h"
#include "kernels/spike_convolution.h"
#include "layers/frame_rows.h"

namespace bntt {

/// 3x3 convolution of spikes, bit by bit: work in proportion to the spikes.
class ConvWalk {
 public:
  explicit ConvWalk(const StagePlan& plan);

  int64_t block_channels() const { return shape_.block_channels; }
  Buffer<float> pack(const float* weights) const;
  /// Of frames [first, first + count); input and weights must outlive it.
  std::unique_ptr<FrameRows> rows(const SpikeTrain& input, int64_t first, int64_t count,
                                  const float* packed_weights) const;
  /// Overwrites the weight gradient [tap, in, out].
  void weight_gradient(const SpikeTrain& input, const float* current_gradient,
                       float* weight_gradient) const;

 private:
  class Rows;
  MapShape output_;
  kernels::SpikeConvolution shape_;
};

}  // namespace bntt
