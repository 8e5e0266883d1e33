#pragma once

#include "bntt/network_spec.h"
#include "bntt/signal.h"
#include "kernels/spike_convolution.h"

namespace bntt {

/// 3x3 convolution of spikes, bit by bit: work in proportion to the spikes.
class ConvWalk {
 public:
  explicit ConvWalk(const StagePlan& plan);

  Buffer<float> pack(const float* weights) const;
  /// Frames [first, first + count), at most `most_frames` of them, on this thread.
  void forward(const SpikeTrain& input, int64_t first, int64_t count, int64_t most_frames,
               const float* packed_weights, float* current) const;
  /// Overwrites the weight gradient [tap, in, out].
  void weight_gradient(const SpikeTrain& input, const float* current_gradient,
                       float* weight_gradient) const;

 private:
  MapShape output_;
  kernels::SpikeConvolution shape_;
};

}  // namespace bntt
