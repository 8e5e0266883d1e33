#include <gtest/gtest.h>

#include <cmath>

#include "guarded.h"

namespace bntt::kernels {
namespace {

using testing::EverySet;
using testing::Guarded;
using testing::Numbers;

constexpr int64_t kFrames = 3;

struct ConvolutionCase {
  PooledMap map;
  int64_t output_channels;
  float density;
};

std::ostream& operator<<(std::ostream& out, const ConvolutionCase& c) {
  return out << c.map.source.channels << "x" << c.map.source.height << "x" << c.map.source.width
             << " pool " << c.map.pool_height << "x" << c.map.pool_width << " to "
             << c.output_channels << " channels, density " << c.density;
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

/// A plane of spikes with its lists, weights, gradients and what a layout of `block_channels` makes
/// of them.
struct Inputs {
  Inputs(const ConvolutionCase& c, int64_t block_channels)
      : convolution{c.map, c.output_channels, block_channels}, numbers(11) {
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
    weights = numbers.vector(9 * source.channels * c.output_channels, 0.5F);
    gradient = numbers.vector(kFrames * c.map.pooled().pixels() * c.output_channels);
  }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  struct Columns {
    Guarded<int32_t> starts, entries;
  };
  Columns columns(const KernelSet& set, int64_t frame) const {
    const int64_t per_frame = std::ssize(words) / kFrames;
    const SpikeWord* of_frame = words.data() + frame * per_frame;
    const int64_t spikes = count_spikes(of_frame, per_frame);
    Guarded<int32_t> starts(column_starts(convolution.map));
    Guarded<int32_t> entries(list_entries(convolution.map, 1) + kListSlack);
    Columns result{Guarded<int32_t>(starts.size()), Guarded<int32_t>(column_entries(spikes))};
    set.list_columns(convolution.map, of_frame, {starts.data(), entries.data()},
                     {result.starts.data(), result.entries.data()});
    EXPECT_TRUE(starts.guards_intact() && entries.guards_intact());
    EXPECT_TRUE(result.starts.guards_intact() && result.entries.guards_intact());
    return result;
  }

  Guarded<float> forward(const KernelSet& set, const Guarded<float>& before, bool accumulate) {
    const MapShape map = convolution.map.pooled();
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
            {.starts = listed.starts.data() + y * map.width,
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
    Guarded<int32_t> starts(channel_list_starts(convolution.map));
    Guarded<int32_t> entries(list_entries(convolution.map, kFrames));
    list_by_channel(convolution.map, plane, {starts.data(), entries.data()});
    EXPECT_TRUE(starts.guards_intact() && entries.guards_intact());
    Guarded<float> packed(convolution.packed_size(), 0.5F);
    for (int64_t block = 0; block < convolution.blocks(); ++block) {
      const Guarded<float> bordered = bordered_gradient(block);
      set.spike_conv_weight_gradient(convolution, plane, {starts.data(), entries.data()},
                                     bordered.data(),
                                     packed.data() + block * convolution.block_weights());
    }
    Guarded<float> result(static_cast<int64_t>(weights.size()));
    unpack_spike_gradient(convolution, packed.data(), result.data());
    EXPECT_TRUE(packed.guards_intact() && result.guards_intact());
    return result;
  }

  Guarded<float> bordered_gradient(int64_t block) const {
    const MapShape map = convolution.map.pooled();
    const int64_t width = convolution.block_channels;
    Guarded<float> bordered(kFrames * (map.height + 2) * (map.width + 2) * width);
    for (int64_t pixel = 0; pixel < kFrames * map.pixels(); ++pixel) {
      const int64_t frame = pixel / map.pixels();
      const int64_t y = pixel / map.width % map.height;
      const int64_t x = pixel % map.width;
      const int64_t place = (frame * (map.height + 2) + y + 1) * (map.width + 2) + x + 1;
      for (int64_t k = 0; k < width; ++k) {
        const int64_t channel = block * width + k;
        if (channel >= convolution.output_channels) break;
        bordered.data()[place * width + k] =
            gradient[pixel * convolution.output_channels + channel];
      }
    }
    return bordered;
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
  for (const ConvolutionCase& c : cases()) {
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
  for (const ConvolutionCase& c : cases()) {
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

TEST_P(SpikeConvolutionOfEverySet, AgreesWithPlainLoops) {
  for (const ConvolutionCase& c : cases()) {
    Inputs in = inputs(c);
    const std::vector<float> dense = in.dense();
    const MapShape map = c.map.pooled();
    std::vector<double> output(in.gradient.size());
    std::vector<double> gradient(in.weights.size(), 0.5);
    for (int64_t pixel = 0; pixel < kFrames * map.pixels(); ++pixel) {
      for (int64_t tap = 0; tap < 9; ++tap) {
        const int64_t y = pixel / map.width % map.height + tap / 3 - 1;
        const int64_t x = pixel % map.width + tap % 3 - 1;
        if (y < 0 || y >= map.height || x < 0 || x >= map.width) continue;
        const int64_t source = pixel / map.pixels() * map.pixels() + y * map.width + x;
        for (int64_t i = 0; i < map.channels; ++i) {
          const double value = dense[source * map.channels + i];
          if (value == 0.0) continue;
          for (int64_t o = 0; o < c.output_channels; ++o) {
            const int64_t weight = (tap * map.channels + i) * c.output_channels + o;
            output[pixel * c.output_channels + o] += value * in.weights[weight];
            gradient[weight] += value * in.gradient[pixel * c.output_channels + o];
          }
        }
      }
    }
    const Guarded<float> our_output = in.forward(set(), Guarded<float>(in.gradient), false);
    const Guarded<float> our_gradient = in.weight_gradient(set());
    double worst = 0.0;
    for (std::size_t i = 0; i < output.size(); ++i) {
      worst = std::max(worst, std::abs(our_output.data()[i] - output[i]));
    }
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      worst = std::max(worst, std::abs(our_gradient.data()[i] - gradient[i]));
    }
    EXPECT_LT(worst, 1e-4) << c;
  }
}

}  // namespace
}  // namespace bntt::kernels
