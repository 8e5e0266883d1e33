#include <algorithm>

#include "kernels/winograd.h"

namespace bntt::kernels {
namespace {

constexpr int64_t kWindow = WinogradConvolution::kWindow;

// G, for the points 0, ±1, ±2 and infinity.
constexpr double kTaps[kWindow][3] = {{1.0 / 4, 0, 0},
                                      {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                      {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                      {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                      {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                      {0, 0, 1}};

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
      double rows[kWindow][3];
      for (int64_t i = 0; i < kWindow; ++i) {
        for (int64_t kx = 0; kx < 3; ++kx) {
          rows[i][kx] = 0.0;
          for (int64_t ky = 0; ky < 3; ++ky) {
            rows[i][kx] += kTaps[i][ky] * tap(ky * 3 + kx, in, first + c);
          }
        }
      }
      for (int64_t i = 0; i < kWindow; ++i) {
        for (int64_t j = 0; j < kWindow; ++j) {
          double sum = 0.0;
          for (int64_t kx = 0; kx < 3; ++kx) sum += rows[i][kx] * kTaps[j][kx];
          of_panel[((i * kWindow + j) * inputs + in) * width + c] = static_cast<float>(sum);
        }
      }
    }
  }
}

}  // namespace

void pack_winograd_weights(const WinogradConvolution& convolution, const float* weights,
                           int64_t panel, float* packed) {
  const int64_t inputs = convolution.map.channels;
  const int64_t outputs = convolution.output_channels;
  pack(
      convolution, panel,
      [&](int64_t tap, int64_t in, int64_t out) {
        return weights[(tap * inputs + in) * outputs + out];
      },
      packed);
}

void pack_winograd_weights_reversed(const WinogradConvolution& convolution, const float* weights,
                                    int64_t panel, float* packed) {
  const int64_t outputs = convolution.map.channels;
  const int64_t inputs = convolution.output_channels;
  pack(
      convolution, panel,
      [&](int64_t tap, int64_t out, int64_t in) {
        return weights[((8 - tap) * inputs + in) * outputs + out];
      },
      packed);
}

void unpack_winograd_gradient(const WinogradConvolution& convolution, const float* transformed,
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
        for (int64_t ky = 0; ky < 3; ++ky) rows[ky][j] += kTaps[i][ky] * value;
      }
    }
    for (int64_t ky = 0; ky < 3; ++ky) {
      for (int64_t kx = 0; kx < 3; ++kx) {
        double sum = 0.0;
        for (int64_t j = 0; j < kWindow; ++j) sum += rows[ky][j] * kTaps[j][kx];
        weights[((ky * 3 + kx) * inputs + in) * outputs + out] = static_cast<float>(sum);
      }
    }
  }
}

}  // namespace bntt::kernels
