#include <gtest/gtest.h>

#include <cmath>

#include "guarded.h"

namespace bntt::kernels {
namespace {

using testing::EverySet;
using testing::Guarded;
using testing::Numbers;

struct PatternCase {
  MapShape map;
  std::vector<float> plane_weights;
  int64_t output_channels;
  float density;
};

std::ostream& operator<<(std::ostream& out, const PatternCase& c) {
  return out << c.map.channels << "x" << c.map.height << "x" << c.map.width << ", "
             << c.plane_weights.size() << " planes, to " << c.output_channels
             << " channels, density " << c.density;
}

std::vector<PatternCase> cases() {
  std::vector<PatternCase> result;
  for (const auto& [channels, plane_weights] :
       {std::pair{1, std::vector{1.0F}}, std::pair{1, std::vector{1.0F, -1.0F}},
        std::pair{2, std::vector{1.0F}}, std::pair{2, std::vector{1.0F, 2.0F, 4.0F}},
        std::pair{3, std::vector{1.0F, -1.0F}}, std::pair{6, std::vector{0.5F}}}) {
    for (const int64_t outputs : {1, 7, 8, 9, 16, 30, 64, 65}) {
      for (const MapShape& map :
           {MapShape{channels, 1, 1}, MapShape{channels, 1, 6}, MapShape{channels, 5, 2}}) {
        for (const float density : {0.0F, 0.4F, 1.0F}) {
          result.push_back({map, plane_weights, outputs, density});
        }
      }
    }
  }
  return result;
}

struct Inputs {
  Inputs(const PatternCase& c, int64_t block_channels)
      : convolution{c.map, std::ssize(c.plane_weights), c.output_channels, block_channels},
        plane_weights(c.plane_weights),
        words(c.plane_weights.size() * c.map.pixels(), 0) {
    Numbers numbers(3);
    for (SpikeWord& word : words) {
      for (int64_t channel = 0; channel < c.map.channels; ++channel) {
        if (numbers.uniform() < c.density) word |= SpikeWord{1} << channel;
      }
    }
    weights = numbers.vector(9 * c.map.channels * c.output_channels, 0.5F);
  }

  Guarded<float> output(const KernelSet& set) const {
    const MapShape& map = convolution.map;
    Guarded<float> table(convolution.table_size());
    fill_pattern_table(convolution, weights.data(), plane_weights, table.data());
    std::vector<const SpikeWord*> planes;
    for (int64_t p = 0; p < convolution.planes; ++p) {
      planes.push_back(words.data() + p * map.pixels());
    }
    Guarded<uint8_t> patterns(convolution.frame_patterns(), 0xff);
    read_patterns(convolution, planes, patterns.data());
    const int64_t outputs = convolution.output_channels;
    const int64_t width = convolution.block_channels;
    Guarded<float> result(map.pixels() * outputs, -5.0F);
    for (int64_t y = 0; y < map.height; ++y) {
      for (int64_t block = 0; block < convolution.blocks(); ++block) {
        set.pattern_conv_row(convolution, patterns.data() + y * convolution.pattern_row(),
                             table.data() + block * convolution.block_table(),
                             {.data = result.data() + y * map.width * outputs + block * width,
                              .stride = outputs,
                              .channels = std::min(width, outputs - block * width)});
      }
    }
    EXPECT_TRUE(table.guards_intact() && patterns.guards_intact() && result.guards_intact());
    return result;
  }

  PatternConvolution convolution;
  std::vector<float> plane_weights;
  std::vector<SpikeWord> words;  // [plane, y, x]
  std::vector<float> weights;    // [tap, in, out]
};

class PatternConvolutionOfEverySet : public EverySet {
 protected:
  Inputs inputs(const PatternCase& c) const {
    return {c, set().channels_per_block(c.output_channels)};
  }
};
INSTANTIATE_TEST_SUITE_P(Sets, PatternConvolutionOfEverySet, ::testing::ValuesIn(kernel_sets()),
                         testing::set_name);

TEST_P(PatternConvolutionOfEverySet, GivesTheReferencesBits) {
  for (const PatternCase& c : cases()) {
    const Inputs plain(c, reference_.channels_per_block(c.output_channels));
    EXPECT_TRUE(inputs(c).output(set()).same_bits(plain.output(reference_))) << c;
  }
}

TEST_P(PatternConvolutionOfEverySet, AgreesWithPlainLoops) {
  for (const PatternCase& c : cases()) {
    const Inputs in = inputs(c);
    const Guarded<float> output = in.output(set());
    double worst = 0.0;
    for (int64_t pixel = 0; pixel < c.map.pixels(); ++pixel) {
      for (int64_t o = 0; o < c.output_channels; ++o) {
        double sum = 0.0;
        for (int64_t tap = 0; tap < 9; ++tap) {
          const int64_t y = pixel / c.map.width + tap / 3 - 1;
          const int64_t x = pixel % c.map.width + tap % 3 - 1;
          if (y < 0 || y >= c.map.height || x < 0 || x >= c.map.width) continue;
          for (std::size_t p = 0; p < c.plane_weights.size(); ++p) {
            const SpikeWord word = in.words[p * c.map.pixels() + y * c.map.width + x];
            for (int64_t i = 0; i < c.map.channels; ++i) {
              if ((word >> i & 1) == 0) continue;
              sum += c.plane_weights[p] *
                     in.weights[(tap * c.map.channels + i) * c.output_channels + o];
            }
          }
        }
        worst = std::max(worst, std::abs(output.data()[pixel * c.output_channels + o] - sum));
      }
    }
    EXPECT_LT(worst, 1e-5) << c;
  }
}

TEST(PatternConvolutionShape, SuitsSmall3x3ConvolutionsWithoutAPool) {
  const PooledMap map{{3, 8, 8}};
  EXPECT_TRUE(PatternConvolution::suits(map, 2));
  EXPECT_TRUE(PatternConvolution::suits(map, 2, ConvGeometry{3, 1, 1}));
  EXPECT_FALSE(PatternConvolution::suits(map, 3));
  EXPECT_FALSE(PatternConvolution::suits({{3, 8, 8}, 2, 2}, 2));
  EXPECT_FALSE(PatternConvolution::suits(map, 2, {3, 2, 1}));
  EXPECT_FALSE(PatternConvolution::suits(map, 2, {3, 1, 0}));
  EXPECT_FALSE(PatternConvolution::suits(map, 2, {1, 1, 0}));
}

}  // namespace
}  // namespace bntt::kernels
