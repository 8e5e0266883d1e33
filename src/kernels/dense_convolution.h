#pragma once

#include <cstdint>
#include <memory>

#include "bntt/buffer.h"
#include "bntt/shape.h"

namespace bntt::kernels {

/// Convolution of any geometry through oneDNN, on a fixed number of frames [frame, y, x, channel].
/// Primitives are created once and run single-threaded. Called from a parallel loop over chunks of
/// fixed size, they give bits that depend neither on the thread count nor on the rest of the batch.
class DenseConvolution {
 public:
  DenseConvolution(MapShape input, int64_t output_channels, int64_t frames,
                   const ConvGeometry& geometry = {});
  ~DenseConvolution();
  DenseConvolution(const DenseConvolution&) = delete;
  DenseConvolution& operator=(const DenseConvolution&) = delete;

  int64_t frames() const { return frames_; }

  /// Weights [ky, kx, in, out] in the layouts that the primitives prefer.
  Buffer<float> pack_for_forward(const float* weights) const;
  Buffer<float> pack_for_input_gradient(const float* weights) const;
  /// Floats of a weight gradient in oneDNN's own layout; such gradients may be summed and unpacked
  /// once at the end.
  int64_t packed_gradient_size() const;
  void unpack_gradient(const float* packed, float* weights) const;

  void forward(const float* input, const float* packed_weights, float* output) const;
  void input_gradient(const float* output_gradient, const float* packed_weights,
                      float* input_gradient) const;
  /// Overwrites `packed_gradient` with the sum over this chunk's frames.
  void weight_gradient(const float* input, const float* output_gradient,
                       float* packed_gradient) const;

 private:
  struct Primitives;
  int64_t frames_;
  std::unique_ptr<Primitives> primitives_;
};

}  // namespace bntt::kernels
