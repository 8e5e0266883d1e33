#pragma once

#include <memory>
#include <vector>

#include "bntt/network_spec.h"
#include "bntt/signal.h"
#include "kernels/pattern_convolution.h"
#include "layers/frame_rows.h"

namespace bntt {

/// 3x3 convolution of spikes with few bits per pixel, by looking up what each pattern of them
/// brings.
class ConvPatterns {
 public:
  explicit ConvPatterns(const StagePlan& plan);

  bool suits(const SpikeTrain& input) const;
  Buffer<float> table(const float* weights, const std::vector<float>& plane_weights) const;
  /// Of frames [first, first + count); input and table must outlive it.
  std::unique_ptr<FrameRows> rows(const SpikeTrain& input, int64_t first, int64_t count,
                                  const float* table) const;

 private:
  class Rows;
  kernels::PatternConvolution shape(int64_t planes) const;

  kernels::PooledMap map_;
  int64_t output_channels_;
  int64_t block_channels_;
};

}  // namespace bntt
