#pragma once

#include <algorithm>
#include <cstdint>

#include "bntt/shape.h"

namespace bntt::kernels {

/// 3x3 convolution with padding 1 in Winograd's form F(4x4, 3x3): 36 multiplications where the
/// direct form takes 144, with an error of about 1e-6 of the signal. With g the taps, d a 6x6 tile
/// of the input and Y a 4x4 tile of the output:
///   Y = Aᵀ [ (G g Gᵀ) ⊙ (Bᵀ d B) ] A,   summed over input channels, which makes the product in
/// brackets 36 matrix products [tile, in] x [in, out]. The weight gradient is its transpose:
///   ∂L/∂g = Gᵀ [ Σ over tiles of (Bᵀ d B) ⊙ (A ∂L/∂Y Aᵀ) ] G.
/// The bits of a tile do not depend on which other tiles are computed with it.
struct WinogradConvolution {
  static constexpr int64_t kTile = 4;    // output pixels in each direction
  static constexpr int64_t kWindow = 6;  // input pixels in each direction
  static constexpr int64_t kPlaces = kWindow * kWindow;
  static constexpr int64_t kRowsTogether = 12;  // the tiles of a block are a multiple of this

  MapShape map;  // of the input
  int64_t output_channels = 0;
  int64_t panel_channels = 0;  // whole vectors of the kernel set in use

  int64_t tile_columns() const { return (map.width + kTile - 1) / kTile; }
  int64_t tiles_per_frame() const { return (map.height + kTile - 1) / kTile * tile_columns(); }
  int64_t panels() const { return (output_channels + panel_channels - 1) / panel_channels; }
  int64_t padded_inputs() const {
    return (map.channels + panel_channels - 1) / panel_channels * panel_channels;
  }
  int64_t padded_outputs() const { return panels() * panel_channels; }
  /// Transformed weights: [panel, place, in, channel of the panel], zero past the last channel.
  int64_t packed_size() const { return padded_outputs() * kPlaces * map.channels; }
  /// The transformed weight gradient: [place, in, padded out].
  int64_t gradient_size() const { return kPlaces * padded_inputs() * padded_outputs(); }
  int64_t forward_scratch(int64_t tiles) const {
    return kPlaces * tiles * (padded_inputs() + panel_channels) + padded_inputs();
  }
  int64_t gradient_scratch(int64_t tiles) const {
    return kPlaces * tiles * (padded_inputs() + padded_outputs()) +
           std::max(padded_inputs(), padded_outputs());
  }
};

/// Tiles of some frames, numbered across all of them; frames are [y, x, channel].
struct WinogradTiles {
  int64_t first = 0;
  int64_t count = 0;
};

/// outputs[frame] = convolution of inputs[frame] at the given tiles. `scratch` must be sized for
/// `count` rounded up to kRowsTogether.
using WinogradForward = void(const WinogradConvolution& convolution, const float* packed_weights,
                             const float* const* inputs, WinogradTiles tiles, float* scratch,
                             float* const* outputs);

/// Adds the contribution of these tiles to the transformed weight gradient.
using WinogradWeightGradient = void(const WinogradConvolution& convolution,
                                    const float* const* inputs, const float* const* gradients,
                                    WinogradTiles tiles, float* scratch,
                                    float* transformed_gradient);

/// Packs the weights [tap, in, out] for the forward direction, one panel at a time.
void pack_winograd_weights(const WinogradConvolution& convolution, const float* weights,
                           int64_t panel, float* packed);
/// Packs the same weights for the input gradient: `convolution` then maps outputs to inputs, with
/// its taps flipped.
void pack_winograd_weights_reversed(const WinogradConvolution& convolution, const float* weights,
                                    int64_t panel, float* packed);
/// Gᵀ · G of a transformed gradient, for input channel `in`: weights[tap, in, out].
void unpack_winograd_gradient(const WinogradConvolution& convolution, const float* transformed,
                              int64_t in, float* weights);

}  // namespace bntt::kernels
