#include <gtest/gtest.h>

#include "geometry_cases.h"
#include "guarded.h"
#include "kernels/dense_convolution.h"
#include "plain_convolution.h"

namespace bntt::kernels {
namespace {

using testing::expect_near;
using testing::Guarded;
using testing::Numbers;
using testing::PlainConvolution;

void expect_plain_results(const MapShape& map, int64_t out_channels, int64_t frames,
                          const ConvGeometry& geometry) {
  Numbers numbers(17);
  const auto input = numbers.vector(frames * map.size());
  const auto weights = numbers.vector(geometry.taps() * map.channels * out_channels, 0.5F);
  const int64_t outputs = frames * geometry.output(map, out_channels).size();
  const auto gradient = numbers.vector(outputs);
  const PlainConvolution plain(map, out_channels, frames, input, weights, gradient, geometry);

  const DenseConvolution convolution(map, out_channels, frames, geometry);
  EXPECT_EQ(convolution.frames(), frames);
  Guarded<float> our_output(outputs);
  convolution.forward(input.data(), convolution.pack_for_forward(weights.data()).data(),
                      our_output.data());
  expect_near(our_output, plain.output);

  Guarded<float> our_input_gradient(static_cast<int64_t>(input.size()));
  convolution.input_gradient(gradient.data(),
                             convolution.pack_for_input_gradient(weights.data()).data(),
                             our_input_gradient.data());
  expect_near(our_input_gradient, plain.input_gradient);

  Guarded<float> packed(convolution.packed_gradient_size(), 99.0F);
  convolution.weight_gradient(input.data(), gradient.data(), packed.data());
  Guarded<float> our_weight_gradient(static_cast<int64_t>(weights.size()));
  convolution.unpack_gradient(packed.data(), our_weight_gradient.data());
  expect_near(our_weight_gradient, plain.weight_gradient);
  EXPECT_TRUE(packed.guards_intact());
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
  expect_plain_results(map, out_channels, frames, {});
}

TEST(Convolutions, OfEveryGeometryAgreeWithPlainLoops) {
  for (const testing::GeometryCase& c : testing::geometry_cases()) {
    SCOPED_TRACE(::testing::Message() << c);
    expect_plain_results(c.map, c.output_channels, 2, c.geometry);
  }
}

}  // namespace
}  // namespace bntt::kernels
