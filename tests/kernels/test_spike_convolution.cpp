#include <gtest/gtest.h>

#include <cmath>

#include "geometry_cases.h"
#include "guarded.h"
#include "plain_convolution.h"

namespace bntt::kernels {
namespace {

using testing::EverySet;
using testing::Guarded;
using testing::Numbers;
using testing::PlainConvolution;

constexpr int64_t kFrames = 3;

struct ConvolutionCase {
  PooledMap map;
  int64_t output_channels;
  float density;
  ConvGeometry geometry = {};
};

std::ostream& operator<<(std::ostream& out, const ConvolutionCase& c) {
  return out << c.map.source.channels << "x" << c.map.source.height << "x" << c.map.source.width
             << (c.map.kind == PoolKind::sum ? " sum" : " pool ") << c.map.pool_height << "x"
             << c.map.pool_width << " to " << c.output_channels << " channels, density "
             << c.density << ", kernel " << c.geometry.kernel << ", stride " << c.geometry.stride
             << ", padding " << c.geometry.padding;
}

std::vector<ConvolutionCase> cases() {
  std::vector<ConvolutionCase> result;
  for (const int64_t inputs : {1, 7, 64, 65}) {
    for (const int64_t outputs : {1, 7, 8, 9, 16, 63, 64, 65, 130}) {
      for (const PooledMap& map :
           {PooledMap{{inputs, 1, 1}, 1, 1}, PooledMap{{inputs, 5, 3}, 1, 1},
            PooledMap{{inputs, 5, 7}, 2, 2}, PooledMap{{inputs, 3, 7}, 3, 2}}) {
        result.push_back({map, outputs, 0.2F});
      }
    }
  }
  for (const float density : {0.0F, 1.0F}) result.push_back({{{9, 4, 5}, 2, 1}, 17, density});
  return result;
}

/// Every geometry behind no pool, an average and a sum, which take turns.
std::vector<ConvolutionCase> geometry_cases() {
  std::vector<ConvolutionCase> result;
  for (const testing::GeometryCase& c : testing::geometry_cases()) {
    const int64_t turn = std::ssize(result) % 4;
    const int64_t pool = turn == 0 ? 1 : 2;
    // Even and odd sources: of the odd ones a pixel is dropped.
    const MapShape source = {c.map.channels, c.map.height * pool + pool / 2,
                             c.map.width * pool + turn % 2};
    const PoolKind kind = turn == 3 ? PoolKind::sum : PoolKind::average;
    result.push_back({{source, pool, pool, kind}, c.output_channels, 0.1F, c.geometry});
  }
  return result;
}

std::vector<ConvolutionCase> all_cases() {
  std::vector<ConvolutionCase> result = cases();
  for (const ConvolutionCase& c : geometry_cases()) result.push_back(c);
  return result;
}

/// A plane of spikes with its lists, weights, gradients and what a layout of `block_channels` makes
/// of them.
struct Inputs {
  Inputs(const ConvolutionCase& c, int64_t block_channels)
      : convolution{c.map, c.output_channels, block_channels, c.geometry}, numbers(11) {
    const MapShape& source = c.map.source;
    const int64_t per_pixel = (source.channels + kSpikesPerWord - 1) / kSpikesPerWord;
    words.resize(static_cast<std::size_t>(kFrames * source.pixels() * per_pixel));
    for (int64_t pixel = 0; pixel < kFrames * source.pixels(); ++pixel) {
      for (int64_t channel = 0; channel < source.channels; ++channel) {
        if (numbers.uniform() >= c.density) continue;
        words[pixel * per_pixel + channel / kSpikesPerWord] |= SpikeWord{1}
                                                               << (channel % kSpikesPerWord);
      }
    }
    plane = {words.data(), -2.0F, kFrames};
    weights = numbers.vector(c.geometry.taps() * source.channels * c.output_channels, 0.5F);
    gradient = numbers.vector(kFrames * convolution.output().size());
  }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  /// Rounds all numbers so that no sum of them is ever rounded.
  void make_exact() {
    for (std::vector<float>* values : {&weights, &gradient}) {
      for (float& value : *values) value = std::round(value * 64.0F) / 64.0F;
    }
  }

  struct Columns {
    Guarded<int32_t> starts, entries;
  };
  Columns columns(const KernelSet& set, int64_t frame) const {
    const int64_t per_frame = std::ssize(words) / kFrames;
    const SpikeWord* of_frame = words.data() + frame * per_frame;
    const int64_t spikes = count_spikes(of_frame, per_frame);
    Guarded<int32_t> starts(pixel_starts(convolution.map));
    Guarded<int32_t> entries(list_entries(convolution.map, 1) + kListSlack);
    Columns result{Guarded<int32_t>(column_starts(convolution)),
                   Guarded<int32_t>(column_entries(convolution, spikes))};
    set.list_columns(convolution, of_frame, {starts.data(), entries.data()},
                     {result.starts.data(), result.entries.data()});
    EXPECT_TRUE(starts.guards_intact() && entries.guards_intact());
    EXPECT_TRUE(result.starts.guards_intact() && result.entries.guards_intact());
    return result;
  }

  Guarded<float> forward(const KernelSet& set, const Guarded<float>& before, bool accumulate) {
    const MapShape map = convolution.output();
    const int64_t outputs = convolution.output_channels;
    const int64_t width = convolution.block_channels;
    Guarded<float> packed(convolution.packed_size(), 99.0F);
    pack_spike_weights(convolution, weights.data(), packed.data());
    Guarded<float> output = before;
    for (int64_t frame = 0; frame < kFrames; ++frame) {
      const Columns listed = columns(set, frame);
      for (int64_t i = 0; i < map.height * convolution.blocks(); ++i) {
        const int64_t y = i / convolution.blocks();
        const int64_t block = i % convolution.blocks();
        set.spike_conv_row(
            convolution,
            {.starts = listed.starts.data() + y * convolution.map.pooled().width,
             .entries = listed.entries.data(),
             .block_weights = packed.data() + block * convolution.block_weights(),
             .factor = plane.weight * convolution.map.scale(),
             .accumulate = accumulate},
            {.data = output.data() + (frame * map.height + y) * map.width * outputs + block * width,
             .stride = outputs,
             .channels = std::min(width, outputs - block * width)});
      }
    }
    EXPECT_TRUE(packed.guards_intact() && output.guards_intact());
    return output;
  }

  /// Added to 0.5 everywhere.
  Guarded<float> weight_gradient(const KernelSet& set) {
    Guarded<int32_t> starts(channel_list_starts(convolution));
    Guarded<int32_t> entries(list_entries(convolution.map, kFrames));
    list_by_channel(convolution, plane, {starts.data(), entries.data()});
    EXPECT_TRUE(starts.guards_intact() && entries.guards_intact());
    Guarded<float> packed(convolution.packed_size(), 0.5F);
    for (int64_t block = 0; block < convolution.blocks(); ++block) {
      Guarded<float> bordered(
          kFrames * gradient_border(convolution).pixels() * convolution.block_channels, 99.0F);
      copy_bordered(convolution, kFrames, block, {gradient.data()}, bordered.data());
      EXPECT_TRUE(bordered.guards_intact());
      set.spike_conv_weight_gradient(convolution, plane, {starts.data(), entries.data()},
                                     bordered.data(),
                                     packed.data() + block * convolution.block_weights());
    }
    Guarded<float> result(static_cast<int64_t>(weights.size()));
    unpack_spike_gradient(convolution, packed.data(), result.data());
    EXPECT_TRUE(packed.guards_intact() && result.guards_intact());
    return result;
  }

  /// What enters the synapse: pooled and weighted spikes [frame, y, x, channel].
  std::vector<float> dense() const {
    const MapShape pooled = convolution.map.pooled();
    std::vector<float> result(static_cast<std::size_t>(kFrames * pooled.size()), 0.0F);
    const std::size_t frame_words = words.size() / kFrames;
    for (int64_t frame = 0; frame < kFrames; ++frame) {
      reference_kernels().add_spikes(convolution.map, words.data() + frame * frame_words,
                                     plane.weight, result.data() + frame * pooled.size());
    }
    return result;
  }

  SpikeConvolution convolution;
  Numbers numbers;
  std::vector<SpikeWord> words;
  SpikePlane plane;
  std::vector<float> weights;   // [tap, in, out]
  std::vector<float> gradient;  // [frame, y, x, out]
};

class SpikeConvolutionOfEverySet : public EverySet {
 protected:
  Inputs inputs(const ConvolutionCase& c) const {
    return {c, set().channels_per_block(c.output_channels)};
  }
};
INSTANTIATE_TEST_SUITE_P(Sets, SpikeConvolutionOfEverySet, ::testing::ValuesIn(kernel_sets()),
                         testing::set_name);

TEST_P(SpikeConvolutionOfEverySet, GivesTheReferencesBits) {
  for (const ConvolutionCase& c : all_cases()) {
    Inputs ours = inputs(c);
    Inputs plain(c, reference_.channels_per_block(c.output_channels));
    const Guarded<float> before(ours.gradient);
    for (const bool accumulate : {false, true}) {
      EXPECT_TRUE(ours.forward(set(), before, accumulate)
                      .same_bits(plain.forward(reference_, before, accumulate)))
          << c << (accumulate ? ", accumulated" : "");
    }
    EXPECT_TRUE(ours.weight_gradient(set()).same_bits(plain.weight_gradient(reference_))) << c;
  }
}

TEST_P(SpikeConvolutionOfEverySet, ListsWhatTheReferenceLists) {
  for (const ConvolutionCase& c : all_cases()) {
    const Inputs in = inputs(c);
    for (int64_t frame = 0; frame < kFrames; ++frame) {
      const auto ours = in.columns(set(), frame);
      const auto expected = in.columns(reference_, frame);
      ASSERT_TRUE(ours.starts.same_bits(expected.starts)) << c;
      const int64_t count = expected.starts.data()[expected.starts.size() - 1];
      EXPECT_TRUE(
          std::equal(ours.entries.data(), ours.entries.data() + count, expected.entries.data()))
          << c;
    }
  }
}

struct LargestErrors {
  double output = 0.0;
  double weight_gradient = 0.0;
};

/// Against plain loops in fp64.
LargestErrors largest_errors(const KernelSet& set, Inputs& in) {
  const SpikeConvolution& convolution = in.convolution;
  const PlainConvolution plain(convolution.map.pooled(), convolution.output_channels, kFrames,
                               in.dense(), in.weights, in.gradient, convolution.geometry);
  const Guarded<float> output = in.forward(set, Guarded<float>(in.gradient), false);
  const Guarded<float> gradient = in.weight_gradient(set);
  LargestErrors errors;
  for (int64_t i = 0; i < output.size(); ++i) {
    errors.output = std::max(errors.output, std::abs(output.data()[i] - plain.output[i]));
  }
  for (int64_t i = 0; i < gradient.size(); ++i) {
    errors.weight_gradient = std::max(
        errors.weight_gradient, std::abs(gradient.data()[i] - 0.5 - plain.weight_gradient[i]));
  }
  return errors;
}

TEST_P(SpikeConvolutionOfEverySet, AgreesWithPlainLoops) {
  for (const ConvolutionCase& c : cases()) {
    Inputs in = inputs(c);
    const LargestErrors errors = largest_errors(set(), in);
    EXPECT_LT(errors.output, 1e-4) << c;
    EXPECT_LT(errors.weight_gradient, 1e-4) << c;
  }
}

TEST(SpikeConvolutionOfEveryGeometry, IsWhatPlainLoopsGive) {
  const KernelSet reference = reference_kernels();
  for (const ConvolutionCase& c : geometry_cases()) {
    Inputs in(c, reference.channels_per_block(c.output_channels));
    in.make_exact();
    const LargestErrors errors = largest_errors(reference, in);
    EXPECT_EQ(errors.output, 0.0) << c;
    EXPECT_EQ(errors.weight_gradient, 0.0) << c;
  }
}

TEST(ConvGeometry, SaysHowLargeTheOutputIs) {
  EXPECT_EQ((ConvGeometry{3, 1, 1}.output_extent(32)), 32);
  EXPECT_EQ((ConvGeometry{3, 2, 1}.output_extent(32)), 16);
  EXPECT_EQ((ConvGeometry{3, 2, 1}.output_extent(7)), 4);
  EXPECT_EQ((ConvGeometry{7, 2, 3}.output_extent(224)), 112);
  EXPECT_EQ((ConvGeometry{1, 2, 0}.output_extent(5)), 3);
  EXPECT_EQ((ConvGeometry{5, 1, 0}.output_extent(5)), 1);
  EXPECT_EQ((ConvGeometry{5, 2, 0}.output_extent(4)), 0);
  EXPECT_TRUE(ConvGeometry{}.is_same_3x3());
  EXPECT_FALSE((ConvGeometry{3, 2, 1}.is_same_3x3()));
  EXPECT_FALSE((ConvGeometry{3, 1, 0}.is_same_3x3()));
}

}  // namespace
}  // namespace bntt::kernels
