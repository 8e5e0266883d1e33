#include <gtest/gtest.h>

#include <cmath>

#include "guarded.h"
#include "kernels/dense_convolution.h"

namespace bntt::kernels {
namespace {

using testing::Guarded;
using testing::Numbers;

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

void expect_near(const Guarded<float>& ours, const std::vector<double>& expected) {
  ASSERT_EQ(ours.size(), static_cast<int64_t>(expected.size()));
  double largest = 0.0;
  for (int64_t i = 0; i < ours.size(); ++i) {
    largest = std::max(largest, std::abs(ours.data()[i] - expected[i]));
  }
  EXPECT_LT(largest, 2e-5);
  EXPECT_TRUE(ours.guards_intact());
}

class ConvolutionShapes : public ::testing::TestWithParam<std::tuple<MapShape, int64_t, int64_t>> {
};
INSTANTIATE_TEST_SUITE_P(
    Shapes, ConvolutionShapes,
    ::testing::Values(std::tuple{MapShape{1, 1, 1}, 1, 1}, std::tuple{MapShape{3, 5, 3}, 7, 2},
                      std::tuple{MapShape{1, 8, 8}, 3, 3}, std::tuple{MapShape{16, 4, 4}, 16, 4},
                      std::tuple{MapShape{13, 2, 9}, 33, 1}, std::tuple{MapShape{64, 3, 3}, 5, 2}));

TEST_P(ConvolutionShapes, AgreesWithPlainLoops) {
  const auto& [map, out_channels, frames] = GetParam();
  Numbers numbers(17);
  const auto input = numbers.vector(frames * map.size());
  const auto weights = numbers.vector(9 * map.channels * out_channels, 0.5F);
  const int64_t outputs = frames * map.pixels() * out_channels;
  const auto gradient = numbers.vector(outputs);
  std::vector<double> output(outputs);
  std::vector<double> input_gradient(input.size());
  std::vector<double> weight_gradient(weights.size());
  for_each_tap(map, out_channels, frames, [&](const Tap& tap) {
    output[tap.output] += static_cast<double>(input[tap.input]) * weights[tap.weight];
    input_gradient[tap.input] += static_cast<double>(gradient[tap.output]) * weights[tap.weight];
    weight_gradient[tap.weight] += static_cast<double>(gradient[tap.output]) * input[tap.input];
  });

  const DenseConvolution convolution(map, out_channels, frames);
  EXPECT_EQ(convolution.frames(), frames);
  Guarded<float> our_output(outputs);
  convolution.forward(input.data(), convolution.pack_for_forward(weights.data()).data(),
                      our_output.data());
  expect_near(our_output, output);

  Guarded<float> our_input_gradient(static_cast<int64_t>(input.size()));
  convolution.input_gradient(gradient.data(),
                             convolution.pack_for_input_gradient(weights.data()).data(),
                             our_input_gradient.data());
  expect_near(our_input_gradient, input_gradient);

  Guarded<float> packed(convolution.packed_gradient_size(), 99.0F);
  convolution.weight_gradient(input.data(), gradient.data(), packed.data());
  Guarded<float> our_weight_gradient(static_cast<int64_t>(weights.size()));
  convolution.unpack_gradient(packed.data(), our_weight_gradient.data());
  expect_near(our_weight_gradient, weight_gradient);
  EXPECT_TRUE(packed.guards_intact());
}

}  // namespace
}  // namespace bntt::kernels
