#include <algorithm>
#include <array>

#include "kernels/bf16_kernels.h"

namespace bntt::kernels {
namespace {

constexpr int64_t kWindow = WinogradConvolution::kWindow;

using Taps = double[kWindow][3];

// G, for the points 0, ±1, ±2 and infinity.
constexpr Taps kTaps = {{1.0 / 4, 0, 0},
                        {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                        {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                        {1.0 / 24, 1.0 / 12, 1.0 / 6},
                        {1.0 / 24, -1.0 / 12, 1.0 / 6},
                        {0, 0, 1}};

// The same for the points of bf16: row p is (1, p, p²) divided by the product of p's distances to
// the other points.
constexpr double kA = kBf16Points[0];
constexpr double kB = kBf16Points[1];
constexpr double kA2 = kA * kA;
constexpr double kB2 = kB * kB;
constexpr double kAtA = 2 * kA2 * (kA2 - kB2);
constexpr double kAtB = 2 * kB2 * (kB2 - kA2);
constexpr Taps kBf16Taps = {{1 / (kA2 * kB2), 0, 0},
                            {1 / kAtA, kA / kAtA, kA2 / kAtA},
                            {1 / kAtA, -kA / kAtA, kA2 / kAtA},
                            {1 / kAtB, kB / kAtB, kB2 / kAtB},
                            {1 / kAtB, -kB / kAtB, kB2 / kAtB},
                            {0, 0, 1}};

using Transformed = std::array<float, WinogradConvolution::kPlaces>;

/// G g Gᵀ, where tap(t) reads g.
template <typename Tap>
Transformed transformed_taps(const Taps& taps, const Tap& tap) {
  double rows[kWindow][3];
  for (int64_t i = 0; i < kWindow; ++i) {
    for (int64_t kx = 0; kx < 3; ++kx) {
      rows[i][kx] = 0.0;
      for (int64_t ky = 0; ky < 3; ++ky) rows[i][kx] += taps[i][ky] * tap(ky * 3 + kx);
    }
  }
  Transformed result;
  for (int64_t i = 0; i < kWindow; ++i) {
    for (int64_t j = 0; j < kWindow; ++j) {
      double sum = 0.0;
      for (int64_t kx = 0; kx < 3; ++kx) sum += rows[i][kx] * taps[j][kx];
      result[i * kWindow + j] = static_cast<float>(sum);
    }
  }
  return result;
}

/// packed[place, in, channel] = G g Gᵀ, where tap(t, in, channel) reads g.
template <typename Tap>
void pack(const WinogradConvolution& convolution, int64_t panel, const Tap& tap, float* packed) {
  const int64_t inputs = convolution.map.channels;
  const int64_t width = convolution.panel_channels;
  const int64_t first = panel * width;
  const int64_t count = std::min(width, convolution.output_channels - first);
  float* of_panel = packed + panel * WinogradConvolution::kPlaces * inputs * width;
  std::fill_n(of_panel, WinogradConvolution::kPlaces * inputs * width, 0.0F);
  for (int64_t in = 0; in < inputs; ++in) {
    for (int64_t c = 0; c < count; ++c) {
      const Transformed values =
          transformed_taps(kTaps, [&](int64_t t) { return tap(t, in, first + c); });
      for (int64_t e = 0; e < std::ssize(values); ++e) {
        of_panel[(e * inputs + in) * width + c] = values[e];
      }
    }
  }
}

/// The same for packed[place, pair of in, channel].
template <typename Tap>
void pack_bf16(const WinogradConvolution& convolution, int64_t panel, const Tap& tap,
               float* packed) {
  const int64_t pairs = input_pairs(convolution);
  const int64_t width = convolution.panel_channels;
  const int64_t first = panel * width;
  const int64_t count = std::min(width, convolution.output_channels - first);
  float* of_panel = packed + panel * WinogradConvolution::kPlaces * pairs * width;
  std::fill_n(of_panel, WinogradConvolution::kPlaces * pairs * width, 0.0F);
  for (int64_t pair = 0; pair < pairs; ++pair) {
    for (int64_t c = 0; c < count; ++c) {
      const auto of_input = [&](int64_t in) {
        if (in >= convolution.map.channels) return Transformed{};
        return transformed_taps(kBf16Taps, [&](int64_t t) { return tap(t, in, first + c); });
      };
      const Transformed one = of_input(2 * pair);
      const Transformed other = of_input(2 * pair + 1);
      for (int64_t e = 0; e < std::ssize(one); ++e) {
        of_panel[(e * pairs + pair) * width + c] = rounded_pair(one[e], other[e]);
      }
    }
  }
}

/// How the weights [tap, in, out] are read as taps of a convolution, and of the convolution from
/// outputs to inputs.
auto forward_taps(const WinogradConvolution& convolution, const float* weights) {
  return [weights, inputs = convolution.map.channels, outputs = convolution.output_channels](
             int64_t tap, int64_t in, int64_t out) {
    return weights[(tap * inputs + in) * outputs + out];
  };
}

auto reversed_taps(const WinogradConvolution& convolution, const float* weights) {
  return [weights, outputs = convolution.map.channels, inputs = convolution.output_channels](
             int64_t tap, int64_t out, int64_t in) {
    return weights[((8 - tap) * inputs + in) * outputs + out];
  };
}

/// Gᵀ · G.
void unpack(const WinogradConvolution& convolution, const Taps& taps, const float* transformed,
            int64_t in, float* weights) {
  const int64_t inputs = convolution.map.channels;
  const int64_t outputs = convolution.output_channels;
  const int64_t stride = convolution.padded_outputs();
  for (int64_t out = 0; out < outputs; ++out) {
    double rows[3][kWindow] = {};
    for (int64_t i = 0; i < kWindow; ++i) {
      for (int64_t j = 0; j < kWindow; ++j) {
        const int64_t place = i * kWindow + j;
        const double value = transformed[(place * convolution.padded_inputs() + in) * stride + out];
        for (int64_t ky = 0; ky < 3; ++ky) rows[ky][j] += taps[i][ky] * value;
      }
    }
    for (int64_t ky = 0; ky < 3; ++ky) {
      for (int64_t kx = 0; kx < 3; ++kx) {
        double sum = 0.0;
        for (int64_t j = 0; j < kWindow; ++j) sum += rows[ky][j] * taps[j][kx];
        weights[((ky * 3 + kx) * inputs + in) * outputs + out] = static_cast<float>(sum);
      }
    }
  }
}

}  // namespace

void pack_winograd_weights(const WinogradConvolution& convolution, const float* weights,
                           int64_t panel, float* packed) {
  pack(convolution, panel, forward_taps(convolution, weights), packed);
}

void pack_winograd_weights_reversed(const WinogradConvolution& convolution, const float* weights,
                                    int64_t panel, float* packed) {
  pack(convolution, panel, reversed_taps(convolution, weights), packed);
}

void unpack_winograd_gradient(const WinogradConvolution& convolution, const float* transformed,
                              int64_t in, float* weights) {
  unpack(convolution, kTaps, transformed, in, weights);
}

void pack_winograd_weights_bf16(const WinogradConvolution& convolution, const float* weights,
                                int64_t panel, float* packed) {
  pack_bf16(convolution, panel, forward_taps(convolution, weights), packed);
}

void pack_winograd_weights_reversed_bf16(const WinogradConvolution& convolution,
                                         const float* weights, int64_t panel, float* packed) {
  pack_bf16(convolution, panel, reversed_taps(convolution, weights), packed);
}

void unpack_winograd_gradient_bf16(const WinogradConvolution& convolution, const float* transformed,
                                   int64_t in, float* weights) {
  unpack(convolution, kBf16Taps, transformed, in, weights);
}

}  // namespace bntt::kernels
