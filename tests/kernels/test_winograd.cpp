#include <gtest/gtest.h>

#include "guarded.h"
#include "kernels/kernel_set.h"
#include "plain_convolution.h"

namespace bntt::kernels {
namespace {

using testing::EverySet;
using testing::Guarded;
using testing::Numbers;
using testing::PlainConvolution;
using testing::relative_error;

struct WinogradCase {
  MapShape map;
  int64_t output_channels;
  int64_t frames;
};

const WinogradCase kCases[] = {{{1, 1, 1}, 1, 1},   {{3, 5, 3}, 7, 2},   {{7, 4, 4}, 16, 1},
                               {{16, 8, 8}, 17, 3}, {{33, 2, 9}, 15, 2}, {{64, 7, 6}, 40, 2},
                               {{13, 13, 4}, 33, 1}};

int64_t rounded(int64_t tiles) {
  constexpr int64_t kRows = WinogradConvolution::kRowsTogether;
  return (tiles + kRows - 1) / kRows * kRows;
}

/// The kernels of one number format in one kernel set.
struct Form {
  WinogradForward* forward;
  WinogradWeightGradient* weight_gradient;
  decltype(pack_winograd_weights)* pack;
  decltype(pack_winograd_weights)* pack_reversed;
  decltype(unpack_winograd_gradient)* unpack_gradient;
  int64_t panel;
};

Form fp32_of(const KernelSet& set) {
  return {set.winograd_forward,           set.winograd_weight_gradient, pack_winograd_weights,
          pack_winograd_weights_reversed, unpack_winograd_gradient,     set.winograd_panel};
}

Form bf16_of(const KernelSet& set) {
  return {set.bf16.winograd_forward,     set.bf16.winograd_weight_gradient,
          pack_winograd_weights_bf16,    pack_winograd_weights_reversed_bf16,
          unpack_winograd_gradient_bf16, set.bf16.panel};
}

/// The three convolutions by one kernel set, the tiles in blocks of `block`.
struct Winograd {
  Guarded<float> output, input_gradient, weight_gradient;

  Winograd(const Form& form, const WinogradCase& c, int64_t block, const std::vector<float>& input,
           const std::vector<float>& weights, const std::vector<float>& gradient)
      : output(static_cast<int64_t>(gradient.size())),
        input_gradient(static_cast<int64_t>(input.size())),
        weight_gradient(static_cast<int64_t>(weights.size())) {
    const WinogradConvolution there{c.map, c.output_channels, form.panel};
    const WinogradConvolution back{
        {c.output_channels, c.map.height, c.map.width}, c.map.channels, form.panel};
    const int64_t tiles = there.tiles_per_frame() * c.frames;
    std::vector<const float*> inputs, gradients;
    std::vector<float*> outputs, input_gradients;
    for (int64_t f = 0; f < c.frames; ++f) {
      inputs.push_back(input.data() + f * c.map.size());
      gradients.push_back(gradient.data() + f * back.map.size());
      outputs.push_back(output.data() + f * back.map.size());
      input_gradients.push_back(input_gradient.data() + f * c.map.size());
    }
    Guarded<float> packed(there.packed_size(), 99.0F);
    for (int64_t p = 0; p < there.panels(); ++p) {
      form.pack(there, weights.data(), p, packed.data());
    }
    Guarded<float> packed_back(back.packed_size(), 99.0F);
    for (int64_t p = 0; p < back.panels(); ++p) {
      form.pack_reversed(back, weights.data(), p, packed_back.data());
    }
    Guarded<float> transformed(there.gradient_size());
    Guarded<float> scratch(
        std::max({there.forward_scratch(rounded(block)), back.forward_scratch(rounded(block)),
                  there.gradient_scratch(block)}),
        99.0F);
    for (int64_t first = 0; first < tiles; first += block) {
      const WinogradTiles some{first, std::min(block, tiles - first)};
      form.forward(there, packed.data(), inputs.data(), some, scratch.data(), outputs.data());
      form.forward(back, packed_back.data(), gradients.data(), some, scratch.data(),
                   input_gradients.data());
      form.weight_gradient(there, inputs.data(), gradients.data(), some, scratch.data(),
                           transformed.data());
    }
    for (int64_t in = 0; in < c.map.channels; ++in) {
      form.unpack_gradient(there, transformed.data(), in, weight_gradient.data());
    }
    EXPECT_TRUE(packed.guards_intact());
    EXPECT_TRUE(packed_back.guards_intact());
    EXPECT_TRUE(transformed.guards_intact());
    EXPECT_TRUE(scratch.guards_intact());
  }
};

using WinogradSets = EverySet;

TEST_P(WinogradSets, AgreesWithPlainLoopsAndBitForBitWithTheReference) {
  for (const WinogradCase& c : kCases) {
    SCOPED_TRACE(::testing::Message() << c.map.channels << "x" << c.map.height << "x" << c.map.width
                                      << " to " << c.output_channels);
    Numbers numbers(23);
    const auto input = numbers.vector(c.frames * c.map.size());
    const auto weights = numbers.vector(9 * c.map.channels * c.output_channels, 0.5F);
    const auto gradient = numbers.vector(c.frames * c.map.pixels() * c.output_channels);
    const PlainConvolution plain(c.map, c.output_channels, c.frames, input, weights, gradient);
    const Winograd ours(fp32_of(set()), c, 12, input, weights, gradient);
    EXPECT_LT(relative_error(ours.output, plain.output), 3e-6);
    EXPECT_LT(relative_error(ours.input_gradient, plain.input_gradient), 3e-6);
    EXPECT_LT(relative_error(ours.weight_gradient, plain.weight_gradient), 3e-6);

    const Winograd reference(fp32_of(reference_), c, 12, input, weights, gradient);
    EXPECT_TRUE(ours.output.same_bits(reference.output));
    EXPECT_TRUE(ours.input_gradient.same_bits(reference.input_gradient));
    EXPECT_TRUE(ours.weight_gradient.same_bits(reference.weight_gradient));
  }
}

TEST_P(WinogradSets, ATileDoesNotDependOnItsBlock) {
  const WinogradCase c{{9, 11, 10}, 21, 3};
  Numbers numbers(29);
  const auto input = numbers.vector(c.frames * c.map.size());
  const auto weights = numbers.vector(9 * c.map.channels * c.output_channels, 0.5F);
  const auto gradient = numbers.vector(c.frames * c.map.pixels() * c.output_channels);
  const Winograd small(fp32_of(set()), c, 1, input, weights, gradient);
  const Winograd large(fp32_of(set()), c, 24, input, weights, gradient);
  EXPECT_TRUE(small.output.same_bits(large.output));
  EXPECT_TRUE(small.input_gradient.same_bits(large.input_gradient));
}

// Odd channels and odd numbers of tiles are paired with zeros; blocks of 5 tiles end in an odd one.
TEST_P(WinogradSets, OfBf16AgreesWithPlainLoopsAndBitForBitWithTheReference) {
  for (const WinogradCase& c : kCases) {
    SCOPED_TRACE(::testing::Message() << c.map.channels << "x" << c.map.height << "x" << c.map.width
                                      << " to " << c.output_channels);
    Numbers numbers(23);
    const auto input = numbers.vector(c.frames * c.map.size());
    const auto weights = numbers.vector(9 * c.map.channels * c.output_channels, 0.5F);
    const auto gradient = numbers.vector(c.frames * c.map.pixels() * c.output_channels);
    const PlainConvolution plain(c.map, c.output_channels, c.frames, input, weights, gradient);
    for (const int64_t block : {5, 12}) {
      const Winograd ours(bf16_of(set()), c, block, input, weights, gradient);
      EXPECT_LT(relative_error(ours.output, plain.output), 0.03);
      EXPECT_LT(relative_error(ours.input_gradient, plain.input_gradient), 0.03);
      EXPECT_LT(relative_error(ours.weight_gradient, plain.weight_gradient), 0.03);

      const Winograd reference(bf16_of(reference_), c, block, input, weights, gradient);
      EXPECT_TRUE(ours.output.same_bits(reference.output));
      EXPECT_TRUE(ours.input_gradient.same_bits(reference.input_gradient));
      EXPECT_TRUE(ours.weight_gradient.same_bits(reference.weight_gradient));
    }
  }
}

TEST_P(WinogradSets, ATileOfBf16DoesNotDependOnItsBlock) {
  const WinogradCase c{{9, 11, 10}, 21, 3};
  Numbers numbers(29);
  const auto input = numbers.vector(c.frames * c.map.size());
  const auto weights = numbers.vector(9 * c.map.channels * c.output_channels, 0.5F);
  const auto gradient = numbers.vector(c.frames * c.map.pixels() * c.output_channels);
  const Winograd small(bf16_of(set()), c, 1, input, weights, gradient);
  const Winograd large(bf16_of(set()), c, 24, input, weights, gradient);
  EXPECT_TRUE(small.output.same_bits(large.output));
  EXPECT_TRUE(small.input_gradient.same_bits(large.input_gradient));
}

INSTANTIATE_TEST_SUITE_P(Sets, WinogradSets, ::testing::ValuesIn(kernel_sets()), testing::set_name);

}  // namespace
}  // namespace bntt::kernels
