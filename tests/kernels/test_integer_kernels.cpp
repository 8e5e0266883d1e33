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

using IntegersOfEverySet = EverySet;
INSTANTIATE_TEST_SUITE_P(Sets, IntegersOfEverySet, ::testing::ValuesIn(kernel_sets()),
                         testing::set_name);

/// All of them the largest, all the smallest, or any.
enum class Weights { largest, smallest, any };

std::vector<int8_t> integers(Numbers& numbers, int64_t count, Weights which) {
  std::vector<int8_t> weights(static_cast<std::size_t>(count));
  for (int8_t& weight : weights) {
    const int any = static_cast<int>(numbers.bits() % 255) - kLargestInteger;
    const int extreme = which == Weights::largest ? kLargestInteger : -kLargestInteger;
    weight = static_cast<int8_t>(which == Weights::any ? any : extreme);
  }
  return weights;
}

struct ConvolutionCase {
  PooledMap map;
  int64_t output_channels;
  float density;
  ConvGeometry geometry = {};
  Weights weights = Weights::any;
};

std::ostream& operator<<(std::ostream& out, const ConvolutionCase& c) {
  return out << c.map.source.channels << "x" << c.map.source.height << "x" << c.map.source.width
             << " pool " << c.map.pool_height << " to " << c.output_channels
             << " channels, density " << c.density << ", kernel " << c.geometry.kernel
             << ", stride " << c.geometry.stride << ", padding " << c.geometry.padding;
}

std::vector<ConvolutionCase> convolution_cases() {
  std::vector<ConvolutionCase> result;
  for (const testing::GeometryCase& c : testing::geometry_cases()) {
    const int64_t pool = std::ssize(result) % 2 + 1;
    const MapShape source = {c.map.channels, c.map.height * pool + 1, c.map.width * pool};
    result.push_back({{source, pool, pool}, c.output_channels, 0.2F, c.geometry});
  }
  for (const int64_t outputs : {1, 8, 16, 17, 40, 48, 64, 96, 130}) {
    result.push_back({{{65, 5, 11}, 1, 1}, outputs, 0.3F});
  }
  // Every bit is set, and every weight the largest there is: 16 bits would overflow many times.
  for (const Weights extreme : {Weights::largest, Weights::smallest}) {
    for (const int64_t kernel : {3, 4, 5}) {
      result.push_back({{{130, 10, 22}, 2, 2, PoolKind::sum}, 70, 1.0F, {kernel, 1, 1}, extreme});
    }
  }
  result.push_back({{{9, 4, 5}, 1, 1}, 17, 0.0F});
  return result;
}

struct Convolution {
  explicit Convolution(const ConvolutionCase& c, int64_t block_channels)
      : shape{c.map, c.output_channels, block_channels, c.geometry}, numbers(11) {
    const MapShape& source = c.map.source;
    const int64_t per_pixel = (source.channels + kSpikesPerWord - 1) / kSpikesPerWord;
    words.resize(static_cast<std::size_t>(source.pixels() * per_pixel));
    for (int64_t i = 0; i < source.size(); ++i) {
      if (numbers.uniform() >= c.density) continue;
      const int64_t channel = i % source.channels;
      words[i / source.channels * per_pixel + channel / kSpikesPerWord] |=
          SpikeWord{1} << (channel % kSpikesPerWord);
    }
    weights = integers(numbers, c.geometry.taps() * source.channels * c.output_channels, c.weights);
  }

  /// Twice the spikes, or that added to 3.
  Guarded<float> output(const KernelSet& set, bool accumulate) const {
    Guarded<int16_t> packed(shape.blocks() * integer_block_words(shape), 99);
    pack_integer_weights(shape, weights.data(), packed.data());
    std::vector<int32_t> pixel_scratch(pixel_starts(shape.map));
    std::vector<int32_t> entry_scratch(list_entries(shape.map, 1) + kListSlack);
    std::vector<int32_t> starts(column_starts(shape));
    std::vector<int32_t> entries(
        column_entries(shape, count_spikes(words.data(), std::ssize(words))));
    set.list_columns(shape, words.data(), {pixel_scratch.data(), entry_scratch.data()},
                     {starts.data(), entries.data()});
    const MapShape map = shape.output();
    Guarded<float> result(map.size(), 3.0F);
    for (int64_t y = 0; y < map.height; ++y) {
      for (int64_t block = 0; block < shape.blocks(); ++block) {
        const int64_t first = block * shape.block_channels;
        set.integer.conv_row(shape,
                             {.starts = starts.data() + y * shape.map.pooled().width,
                              .entries = entries.data(),
                              .block_words = packed.data() + block * integer_block_words(shape),
                              .factor = 2.0F,
                              .accumulate = accumulate},
                             {.data = result.data() + y * map.width * map.channels + first,
                              .stride = map.channels,
                              .channels = std::min(shape.block_channels, map.channels - first)});
      }
    }
    EXPECT_TRUE(packed.guards_intact() && result.guards_intact());
    return result;
  }

  std::vector<int64_t> plain_sums() const {
    const MapShape pooled = shape.map.pooled();
    std::vector<float> dense(static_cast<std::size_t>(pooled.size()), 0.0F);
    PooledMap counted = shape.map;
    counted.kind = PoolKind::sum;
    reference_kernels().add_spikes(counted, words.data(), 1.0F, dense.data());
    std::vector<int64_t> sums(static_cast<std::size_t>(shape.output().size()), 0);
    testing::for_each_tap(
        pooled, shape.output_channels, 1, shape.geometry, [&](const testing::Tap& tap) {
          sums[tap.output] += static_cast<int64_t>(dense[tap.input]) * weights[tap.weight];
        });
    return sums;
  }

  SpikeConvolution shape;
  Numbers numbers;
  std::vector<SpikeWord> words;
  std::vector<int8_t> weights;  // [tap, in, out]
};

TEST_P(IntegersOfEverySet, ConvolveExactlyWithTheReferencesBits) {
  for (const ConvolutionCase& c : convolution_cases()) {
    SCOPED_TRACE(::testing::Message() << c);
    const Convolution ours(c, set().channels_per_block(c.output_channels));
    const Convolution plain(c, reference_.channels_per_block(c.output_channels));
    const std::vector<int64_t> sums = plain.plain_sums();
    for (const bool accumulate : {false, true}) {
      const Guarded<float> output = ours.output(set(), accumulate);
      EXPECT_TRUE(output.same_bits(plain.output(reference_, accumulate)));
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const auto expected = static_cast<float>(2 * sums[i] + (accumulate ? 3 : 0));
        ASSERT_EQ(output.data()[i], expected) << "output " << i;
      }
    }
  }
}

TEST_P(IntegersOfEverySet, SumRowsExactly) {
  constexpr int64_t kRows = 40;
  constexpr int64_t kStride = 300;
  Numbers numbers(5);
  const std::vector<int64_t> lengths = {0, 1, 255, 256, 257, 5, 1000};
  std::vector<int32_t> starts = {0};
  std::vector<int32_t> entries;
  for (const int64_t length : lengths) {
    for (int64_t i = 0; i < length; ++i) {
      entries.push_back(static_cast<int32_t>(numbers.bits() % kRows));
    }
    starts.push_back(static_cast<int32_t>(entries.size()));
  }
  for (const int64_t columns : {1, 10, 31, 32, 33, 64, 100, 129, 256, 290}) {
    for (const Weights which : {Weights::any, Weights::largest, Weights::smallest}) {
      SCOPED_TRACE(columns);
      const std::vector<int8_t> weights = integers(numbers, kRows * columns, which);
      const int64_t width = set().integer_columns_per_block(columns);
      const int64_t blocks = (columns + width - 1) / width;
      Guarded<int16_t> packed(blocks * kRows * width / 2, 99);
      pack_integer_rows(weights.data(), kRows, columns, width, packed.data());
      const auto sums = [&](const KernelSet& with, bool accumulate) {
        Guarded<float> out(std::ssize(lengths) * kStride, 2.0F);
        for (int64_t block = 0; block < blocks; ++block) {
          with.integer.sum_rows({starts.data(), entries.data()}, std::ssize(lengths),
                                {.table = packed.data() + block * kRows * width / 2,
                                 .width = width,
                                 .columns = std::min(width, columns - block * width),
                                 .factor = -1.0F,
                                 .accumulate = accumulate,
                                 .out = out.data() + block * width,
                                 .out_stride = kStride});
        }
        EXPECT_TRUE(out.guards_intact() && packed.guards_intact());
        return out;
      };
      for (const bool accumulate : {false, true}) {
        const Guarded<float> ours = sums(set(), accumulate);
        EXPECT_TRUE(ours.same_bits(sums(reference_, accumulate)));
        for (int64_t i = 0; i < std::ssize(lengths) * columns; ++i) {
          const int64_t list = i / columns;
          int64_t sum = 0;
          for (int32_t e = starts[list]; e < starts[list + 1]; ++e) {
            sum += weights[entries[e] * columns + i % columns];
          }
          ASSERT_EQ(ours.data()[list * kStride + i % columns],
                    static_cast<float>((accumulate ? 2 : 0) - sum))
              << "list " << list;
        }
      }
    }
  }
}

/// The largest sums that a table may hold, and a map with patterns of three pixels.
TEST_P(IntegersOfEverySet, LookPatternsUpExactly) {
  struct Case {
    MapShape map;
    std::vector<float> plane_weights;
  };
  for (const auto& [map, plane_weights] :
       {Case{{3, 5, 6}, {1.0F, -1.0F}}, Case{{2, 4, 7}, {1.0F, 2.0F, 4.0F}},
        Case{{1, 3, 9}, {1.0F}}, Case{{1, 3, 4}, {8.0F, 4.0F, 2.0F, 1.0F}}}) {
    for (const int64_t outputs : {1, 16, 20, 48, 70}) {
      for (const Weights which : {Weights::any, Weights::largest, Weights::smallest}) {
        Numbers numbers(3);
        const std::vector<int8_t> weights = integers(numbers, 9 * map.channels * outputs, which);
        std::vector<SpikeWord> words(plane_weights.size() * map.pixels());
        for (SpikeWord& word : words) {
          word = numbers.bits() & ((SpikeWord{1} << map.channels) - 1);
          if (which != Weights::any) word = (SpikeWord{1} << map.channels) - 1;
        }
        const auto output = [&](const KernelSet& with) {
          const PatternConvolution shape{map, std::ssize(plane_weights), outputs,
                                         with.channels_per_block(outputs)};
          Guarded<int16_t> table(shape.table_size(), 99);
          fill_integer_table(shape, weights.data(), plane_weights, table.data());
          std::vector<const SpikeWord*> planes;
          for (int64_t p = 0; p < shape.planes; ++p) {
            planes.push_back(words.data() + p * map.pixels());
          }
          std::vector<uint8_t> patterns(shape.frame_patterns());
          read_patterns(shape, planes, patterns.data());
          Guarded<float> result(map.pixels() * outputs, -5.0F);
          for (int64_t i = 0; i < map.height * shape.blocks(); ++i) {
            const int64_t y = i / shape.blocks();
            const int64_t block = i % shape.blocks();
            const int64_t first = block * shape.block_channels;
            with.integer.pattern_row(shape, patterns.data() + y * shape.pattern_row(),
                                     table.data() + block * shape.block_table(),
                                     {.data = result.data() + y * map.width * outputs + first,
                                      .stride = outputs,
                                      .channels = std::min(shape.block_channels, outputs - first)});
          }
          EXPECT_TRUE(table.guards_intact() && result.guards_intact());
          return result;
        };
        const Guarded<float> ours = output(set());
        EXPECT_TRUE(ours.same_bits(output(reference_)));
        std::vector<int64_t> sums(static_cast<std::size_t>(map.pixels() * outputs), 0);
        testing::for_each_tap(map, outputs, 1, {}, [&](const testing::Tap& tap) {
          int64_t value = 0;
          for (std::size_t p = 0; p < plane_weights.size(); ++p) {
            const SpikeWord word = words[p * map.pixels() + tap.input / map.channels];
            const bool set_there = (word >> (tap.input % map.channels) & 1) != 0;
            value += set_there ? static_cast<int64_t>(plane_weights[p]) : 0;
          }
          sums[tap.output] += value * weights[tap.weight];
        });
        for (std::size_t i = 0; i < sums.size(); ++i) {
          ASSERT_EQ(ours.data()[i], static_cast<float>(sums[i])) << "output " << i;
        }
      }
    }
  }
}

TEST(IntegerTables, HoldNoSumBeyond16Bits) {
  EXPECT_TRUE(suits_integer_table(3, 2.0));    // two signed planes
  EXPECT_TRUE(suits_integer_table(2, 7.0));    // counts up to 7
  EXPECT_TRUE(suits_integer_table(1, 28.0));   // 9 · 28 · 127 = 32004
  EXPECT_FALSE(suits_integer_table(1, 29.0));  // 33147
  EXPECT_FALSE(suits_integer_table(1, 31.0));
}

}  // namespace
}  // namespace bntt::kernels
