#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "bntt/shape.h"
#include "guarded.h"

namespace bntt::testing {

struct Tap {
  int64_t input, output,
      weight;  // offsets in [frame, y, x, in], [frame, y, x, out], [ky, kx, in, out]
};

template <typename Visit>
void for_each_tap(const MapShape& map, int64_t out_channels, int64_t frames,
                  const ConvGeometry& geometry, const Visit& visit) {
  const MapShape output = geometry.output(map, out_channels);
  for (int64_t frame = 0; frame < frames; ++frame) {
    for (int64_t y = 0; y < output.height; ++y) {
      for (int64_t x = 0; x < output.width; ++x) {
        for (int64_t tap = 0; tap < geometry.taps(); ++tap) {
          const int64_t from_y = y * geometry.stride + tap / geometry.kernel - geometry.padding;
          const int64_t from_x = x * geometry.stride + tap % geometry.kernel - geometry.padding;
          if (from_y < 0 || from_y >= map.height || from_x < 0 || from_x >= map.width) continue;
          for (int64_t in = 0; in < map.channels; ++in) {
            for (int64_t out = 0; out < out_channels; ++out) {
              const int64_t pixel = (frame * output.height + y) * output.width + x;
              const int64_t source = (frame * map.height + from_y) * map.width + from_x;
              visit(Tap{source * map.channels + in, pixel * out_channels + out,
                        (tap * map.channels + in) * out_channels + out});
            }
          }
        }
      }
    }
  }
}

/// A convolution and its gradients, in plain loops and fp64.
struct PlainConvolution {
  std::vector<double> output, input_gradient, weight_gradient;

  PlainConvolution(const MapShape& map, int64_t out_channels, int64_t frames,
                   const std::vector<float>& input, const std::vector<float>& weights,
                   const std::vector<float>& gradient, const ConvGeometry& geometry = {})
      : output(gradient.size()), input_gradient(input.size()), weight_gradient(weights.size()) {
    for_each_tap(map, out_channels, frames, geometry, [&](const Tap& tap) {
      output[tap.output] += static_cast<double>(input[tap.input]) * weights[tap.weight];
      input_gradient[tap.input] += static_cast<double>(gradient[tap.output]) * weights[tap.weight];
      weight_gradient[tap.weight] += static_cast<double>(gradient[tap.output]) * input[tap.input];
    });
  }
};

/// ‖ours − expected‖ / ‖expected‖
inline double relative_error(const Guarded<float>& ours, const std::vector<double>& expected) {
  double difference = 0.0;
  double size = 0.0;
  for (int64_t i = 0; i < ours.size(); ++i) {
    difference += (ours.data()[i] - expected[i]) * (ours.data()[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  return std::sqrt(difference / size);
}

inline void expect_near(const Guarded<float>& ours, const std::vector<double>& expected) {
  ASSERT_EQ(ours.size(), static_cast<int64_t>(expected.size()));
  double difference = 0.0;
  double largest = 1.0;
  for (int64_t i = 0; i < ours.size(); ++i) {
    difference = std::max(difference, std::abs(ours.data()[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  EXPECT_LT(difference, 4e-6 * largest);
  EXPECT_TRUE(ours.guards_intact());
}

}  // namespace bntt::testing
