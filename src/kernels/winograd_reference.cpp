#include <array>
#include <cmath>

#include "kernels/winograd_tiles.h"

// Plain loops that define what every faster variant computes, bit for bit.
namespace bntt::kernels {
namespace {

constexpr int64_t kTile = kWinogradTile;
constexpr int64_t kWindow = kWinogradWindow;

using Column = WinogradColumn;

Column input_transform(const Column& d) {
  const float even1 = d[4] - 4.0F * d[2];
  const float odd1 = d[3] - 4.0F * d[1];
  const float even2 = d[4] - d[2];
  const float odd2 = 2.0F * (d[3] - d[1]);
  return {4.0F * d[0] - 5.0F * d[2] + d[4], even1 + odd1, even1 - odd1, even2 + odd2, even2 - odd2,
          4.0F * d[1] - 5.0F * d[3] + d[5]};
}

std::array<float, kTile> output_transform(const Column& m) {
  const float sum1 = m[1] + m[2];
  const float difference1 = m[1] - m[2];
  const float sum2 = m[3] + m[4];
  const float difference2 = m[3] - m[4];
  return {m[0] + sum1 + sum2, difference1 + 2.0F * difference2, sum1 + 4.0F * sum2,
          difference1 + 8.0F * difference2 + m[5]};
}

Column gradient_transform(const std::array<float, kTile>& y) {
  const float even1 = y[0] + y[2];
  const float odd1 = y[1] + y[3];
  const float even2 = y[0] + 4.0F * y[2];
  const float odd2 = 2.0F * (y[1] + 4.0F * y[3]);
  return {y[0], even1 + odd1, even1 - odd1, even2 + odd2, even2 - odd2, y[3]};
}

void winograd_forward(const WinogradConvolution& convolution, const float* packed_weights,
                      const float* const* inputs, WinogradTiles tiles, float* scratch,
                      float* const* outputs) {
  const MapShape& map = convolution.map;
  const int64_t width = convolution.panel_channels;
  float* transformed = scratch;  // [place, in]
  for (int64_t t = tiles.first; t < tiles.first + tiles.count; ++t) {
    const TilePlace at = place_of(convolution, t);
    for (int64_t in = 0; in < map.channels; ++in) {
      const auto tile = both_ways<kWindow>(
          window<kWindow>(map, map.channels, inputs[at.frame], at.y - 1, at.x - 1, in),
          input_transform);
      for (int64_t e = 0; e < WinogradConvolution::kPlaces; ++e) {
        transformed[e * map.channels + in] = tile[e / kWindow][e % kWindow];
      }
    }
    for (int64_t out = 0; out < convolution.output_channels; ++out) {
      Tile<kWindow> products;
      for (int64_t e = 0; e < WinogradConvolution::kPlaces; ++e) {
        const float* weights = packed_weights + (out / width * WinogradConvolution::kPlaces + e) *
                                                    map.channels * width;
        float sum = 0.0F;
        for (int64_t in = 0; in < map.channels; ++in) {
          sum =
              std::fma(transformed[e * map.channels + in], weights[in * width + out % width], sum);
        }
        products[e / kWindow][e % kWindow] = sum;
      }
      store_tile(convolution, at, out, both_ways<kTile>(products, output_transform), outputs);
    }
  }
}

void winograd_weight_gradient(const WinogradConvolution& convolution, const float* const* inputs,
                              const float* const* gradients, WinogradTiles tiles, float* scratch,
                              float* transformed_gradient) {
  const MapShape& map = convolution.map;
  const int64_t outputs = convolution.output_channels;
  float* of_gradient = scratch;  // [out, place]
  for (int64_t t = tiles.first; t < tiles.first + tiles.count; ++t) {
    const TilePlace at = place_of(convolution, t);
    for (int64_t out = 0; out < outputs; ++out) {
      const auto tile = both_ways<kWindow>(
          window<kTile>(map, outputs, gradients[at.frame], at.y, at.x, out), gradient_transform);
      for (int64_t e = 0; e < WinogradConvolution::kPlaces; ++e) {
        of_gradient[out * WinogradConvolution::kPlaces + e] = tile[e / kWindow][e % kWindow];
      }
    }
    for (int64_t in = 0; in < map.channels; ++in) {
      const auto tile = both_ways<kWindow>(
          window<kWindow>(map, map.channels, inputs[at.frame], at.y - 1, at.x - 1, in),
          input_transform);
      for (int64_t e = 0; e < WinogradConvolution::kPlaces; ++e) {
        float* row = transformed_gradient +
                     (e * convolution.padded_inputs() + in) * convolution.padded_outputs();
        for (int64_t out = 0; out < outputs; ++out) {
          row[out] = std::fma(tile[e / kWindow][e % kWindow],
                              of_gradient[out * WinogradConvolution::kPlaces + e], row[out]);
        }
      }
    }
  }
}

}  // namespace

void set_reference_winograd(KernelSet& set) {
  set.winograd_forward = winograd_forward;
  set.winograd_weight_gradient = winograd_weight_gradient;
  set.winograd_panel = 1;
}

}  // namespace bntt::kernels
