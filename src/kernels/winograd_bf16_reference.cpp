#include <array>
#include <cmath>

#include "kernels/bf16_kernels.h"
#include "kernels/winograd_tiles.h"

// Plain loops that define what the bf16 kernels compute, bit for bit.
namespace bntt::kernels {
namespace {

constexpr int64_t kTile = kWinogradTile;
constexpr int64_t kWindow = kWinogradWindow;
constexpr int64_t kPlaces = WinogradConvolution::kPlaces;

constexpr float kA = kBf16Points[0];
constexpr float kB = kBf16Points[1];
constexpr float kA2 = kA * kA;
constexpr float kB2 = kB * kB;

using Column = WinogradColumn;

Column input_transform(const Column& d) {
  const float even_a = std::fma(-kB2, d[2], d[4]);
  const float odd_a = std::fma(-kB2, d[1], d[3]);
  const float even_b = std::fma(-kA2, d[2], d[4]);
  const float odd_b = std::fma(-kA2, d[1], d[3]);
  return {std::fma(kA2 * kB2, d[0], std::fma(-(kA2 + kB2), d[2], d[4])),
          std::fma(kA, odd_a, even_a),
          std::fma(-kA, odd_a, even_a),
          std::fma(kB, odd_b, even_b),
          std::fma(-kB, odd_b, even_b),
          std::fma(kA2 * kB2, d[1], std::fma(-(kA2 + kB2), d[3], d[5]))};
}

std::array<float, kTile> output_transform(const Column& m) {
  const float sum_a = m[1] + m[2];
  const float difference_a = m[1] - m[2];
  const float sum_b = m[3] + m[4];
  const float difference_b = m[3] - m[4];
  return {m[0] + sum_a + sum_b, std::fma(kA, difference_a, kB * difference_b),
          std::fma(kA2, sum_a, kB2 * sum_b),
          std::fma(kA * kA2, difference_a, std::fma(kB * kB2, difference_b, m[5]))};
}

Column gradient_transform(const std::array<float, kTile>& y) {
  const float even_a = std::fma(kA2, y[2], y[0]);
  const float odd_a = std::fma(kA2, y[3], y[1]);
  const float even_b = std::fma(kB2, y[2], y[0]);
  const float odd_b = std::fma(kB2, y[3], y[1]);
  return {y[0],
          std::fma(kA, odd_a, even_a),
          std::fma(-kA, odd_a, even_a),
          std::fma(kB, odd_b, even_b),
          std::fma(-kB, odd_b, even_b),
          y[3]};
}

Tile<kWindow> input_tile(const WinogradConvolution& convolution, const float* const* inputs,
                         int64_t tile, int64_t channel) {
  const TilePlace at = place_of(convolution, tile);
  return both_ways<kWindow>(window<kWindow>(convolution.map, convolution.map.channels,
                                            inputs[at.frame], at.y - 1, at.x - 1, channel),
                            input_transform);
}

Tile<kWindow> gradient_tile(const WinogradConvolution& convolution, const float* const* gradients,
                            int64_t tile, int64_t channel) {
  const TilePlace at = place_of(convolution, tile);
  return both_ways<kWindow>(window<kTile>(convolution.map, convolution.output_channels,
                                          gradients[at.frame], at.y, at.x, channel),
                            gradient_transform);
}

void multiply_pairs(const PairProduct& product) {
  for (int64_t row = 0; row < product.rows; ++row) {
    float& sum = product.c[row * product.c_stride];
    if (!product.accumulate) sum = 0.0F;
    for (int64_t k = 0; k < product.pairs; ++k) {
      sum = add_pair_product(sum, product.a[row * product.a_row_stride + k * product.a_pair_stride],
                             product.b[k * product.b_stride]);
    }
  }
}

void winograd_forward(const WinogradConvolution& convolution, const float* packed_weights,
                      const float* const* inputs, WinogradTiles tiles, float* scratch,
                      float* const* outputs) {
  const int64_t pairs = input_pairs(convolution);
  float* transformed = scratch;  // [place, pair of in]
  for (int64_t t = tiles.first; t < tiles.first + tiles.count; ++t) {
    const TilePlace at = place_of(convolution, t);
    for (int64_t pair = 0; pair < pairs; ++pair) {
      const auto first = input_tile(convolution, inputs, t, 2 * pair);
      const auto second = input_tile(convolution, inputs, t, 2 * pair + 1);
      for (int64_t e = 0; e < kPlaces; ++e) {
        transformed[e * pairs + pair] =
            rounded_pair(first[e / kWindow][e % kWindow], second[e / kWindow][e % kWindow]);
      }
    }
    for (int64_t out = 0; out < convolution.output_channels; ++out) {
      Tile<kWindow> products;
      for (int64_t e = 0; e < kPlaces; ++e) {
        multiply_pairs({.rows = 1,
                        .pairs = pairs,
                        .a = transformed + e * pairs,
                        .a_pair_stride = 1,
                        .b = packed_weights + (out * kPlaces + e) * pairs,
                        .b_stride = 1,
                        .c = &products[e / kWindow][e % kWindow]});
      }
      store_tile(convolution, at, out, both_ways<kTile>(products, output_transform), outputs);
    }
  }
}

void winograd_weight_gradient(const WinogradConvolution& convolution, const float* const* inputs,
                              const float* const* gradients, WinogradTiles tiles, float* scratch,
                              float* transformed_gradient) {
  const int64_t outputs = convolution.output_channels;
  float* of_gradient = scratch;  // [place, out]
  for (int64_t t = 0; t < tiles.count; t += 2) {
    const int64_t tile = tiles.first + t;
    const auto pair_of = [&](const auto& transformed, const float* const* frames, int64_t channel) {
      const Tile<kWindow> first = transformed(convolution, frames, tile, channel);
      Tile<kWindow> second = {};
      if (t + 1 < tiles.count) second = transformed(convolution, frames, tile + 1, channel);
      std::array<float, kPlaces> pairs;
      for (int64_t e = 0; e < kPlaces; ++e) {
        pairs[e] = rounded_pair(first[e / kWindow][e % kWindow], second[e / kWindow][e % kWindow]);
      }
      return pairs;
    };
    for (int64_t out = 0; out < outputs; ++out) {
      const auto pairs = pair_of(gradient_tile, gradients, out);
      for (int64_t e = 0; e < kPlaces; ++e) of_gradient[e * outputs + out] = pairs[e];
    }
    for (int64_t in = 0; in < convolution.map.channels; ++in) {
      const auto pairs = pair_of(input_tile, inputs, in);
      for (int64_t e = 0; e < kPlaces; ++e) {
        float* row = transformed_gradient +
                     (e * convolution.padded_inputs() + in) * convolution.padded_outputs();
        for (int64_t out = 0; out < outputs; ++out) {
          row[out] = add_pair_product(row[out], pairs[e], of_gradient[e * outputs + out]);
        }
      }
    }
  }
}

}  // namespace

Bf16Kernels reference_bf16_kernels() {
  return {.multiply_pairs = multiply_pairs,
          .winograd_forward = winograd_forward,
          .winograd_weight_gradient = winograd_weight_gradient,
          .panel = 1};
}

}  // namespace bntt::kernels
