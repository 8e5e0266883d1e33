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
void for_each_tap(const MapShape& map, int64_t out_channels, int64_t frames, const Visit& visit) {
  for (int64_t frame = 0; frame < frames; ++frame) {
    for (int64_t y = 0; y < map.height; ++y) {
      for (int64_t x = 0; x < map.width; ++x) {
        for (int64_t tap = 0; tap < 9; ++tap) {
          const int64_t from_y = y + tap / 3 - 1;
          const int64_t from_x = x + tap % 3 - 1;
          if (from_y < 0 || from_y >= map.height || from_x < 0 || from_x >= map.width) continue;
          for (int64_t in = 0; in < map.channels; ++in) {
            for (int64_t out = 0; out < out_channels; ++out) {
              const int64_t pixel = (frame * map.height + y) * map.width + x;
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

/// 3x3 convolution and its gradients, in plain loops and fp64.
struct PlainConvolution {
  std::vector<double> output, input_gradient, weight_gradient;

  PlainConvolution(const MapShape& map, int64_t out_channels, int64_t frames,
                   const std::vector<float>& input, const std::vector<float>& weights,
                   const std::vector<float>& gradient)
      : output(gradient.size()), input_gradient(input.size()), weight_gradient(weights.size()) {
    for_each_tap(map, out_channels, frames, [&](const Tap& tap) {
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
  double largest = 0.0;
  for (int64_t i = 0; i < ours.size(); ++i) {
    largest = std::max(largest, std::abs(ours.data()[i] - expected[i]));
  }
  EXPECT_LT(largest, 2e-5);
  EXPECT_TRUE(ours.guards_intact());
}

}  // namespace bntt::testing
