#include <bit>
#include <utility>

#include "kernels/simd_kernels.h"

// One source, compiled by Highway once per target; the plain reference serves machines below AVX2.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/spike_convolution_simd.cpp"
#include "kernels/simd_targets.h"
// After the targets, which it depends on.
#include "kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bntt::kernels::HWY_NAMESPACE {

// Both kinds of lists are written a few entries at a time, whatever there is to write: what is too
// much is overwritten by the next pixel. Loops that end after one or two turns for nearly every
// pixel would cost more in mispredicted branches than they save in stores.

/// Appends `first` + the number of every set bit.
HWY_INLINE int32_t* AppendBits(SpikeWord bits, int32_t first, int32_t* next) {
  constexpr int kTogether = 4;
  int32_t* const end = next + std::popcount(bits);
  do {
    for (int i = 0; i < kTogether; ++i) {
      next[i] = first + std::countr_zero(bits);
      bits &= bits - 1;
    }
    next += kTogether;
  } while (bits != 0);
  return end;
}

/// The channels that spike at each pooled pixel, in the order of the window's pixels.
void ListByPixel(const PooledMap& map, const SpikeWord* frame, const SpikeLists& lists) {
  const MapShape pooled = map.pooled();
  const int64_t words = (map.source.channels + kSpikesPerWord - 1) / kSpikesPerWord;
  int32_t* next = lists.entries;
  int32_t* start = lists.starts;
  *start++ = 0;
  for (int64_t y = 0; y < pooled.height; ++y) {
    for (int64_t x = 0; x < pooled.width; ++x) {
      for (int64_t dy = 0; dy < map.pool_height; ++dy) {
        const SpikeWord* pixels =
            frame + ((y * map.pool_height + dy) * map.source.width + x * map.pool_width) * words;
        for (int64_t w = 0; w < map.pool_width * words; ++w) {
          next = AppendBits(pixels[w], static_cast<int32_t>(w % words * kSpikesPerWord), next);
        }
      }
      *start++ = static_cast<int32_t>(next - lists.entries);
    }
  }
}

void ListColumnsSimd(const PooledMap& map, const SpikeWord* frame, const SpikeLists& by_pixel,
                     const SpikeLists& columns) {
  using Integers = hn::RebindToSigned<Tag>;
  static_assert(hn::MaxLanes(Integers()) <= kListSlack);
  ListByPixel(map, frame, by_pixel);
  const MapShape pooled = map.pooled();
  const auto lanes = static_cast<int32_t>(hn::Lanes(Integers()));
  int32_t* next = columns.entries;
  int32_t* start = columns.starts;
  *start++ = 0;
  for (int64_t y = 0; y < pooled.height; ++y) {
    const int64_t first_row = y == 0 ? 1 : 0;
    const int64_t end_row = y == pooled.height - 1 ? 2 : 3;
    for (int64_t x = 0; x < pooled.width; ++x) {
      for (int64_t ky = first_row; ky < end_row; ++ky) {
        const int32_t* of_pixel = by_pixel.starts + (y + ky - 1) * pooled.width + x;
        const int32_t* from = by_pixel.entries + of_pixel[0];
        const int32_t count = of_pixel[1] - of_pixel[0];
        const auto first = hn::Set(Integers(), static_cast<int32_t>(ky * pooled.channels));
        int32_t i = 0;
        do {
          hn::StoreU(hn::Add(first, hn::LoadU(Integers(), from + i)), Integers(), next + i);
          i += lanes;
        } while (i < count);
        next += count;
      }
      *start++ = static_cast<int32_t>(next - columns.entries);
    }
  }
}

/// Sums of `pixels` neighbouring outputs, `vectors` registers each. A spike adds to up to three of
/// them, which keeps as many additions under way as the hardware can; each output still adds its
/// rows in the order of tap columns, then of the list.
template <int vectors, int pixels>
struct OutputTile {
  Vector sums[pixels][vectors];

  void Clear() {
    for (auto& pixel : sums) {
      for (Vector& sum : pixel) sum = hn::Zero(Tag());
    }
  }

  /// The spikes of the column at `position` (0 lies left of the tile): output o sees it through tap
  /// column position - o.
  template <int position>
  HWY_INLINE void Walk(const int32_t* begin, const int32_t* end, const float* weights) {
    constexpr int kFirst = position < 2 ? 0 : position - 2;
    constexpr int kLast = position < pixels ? position : pixels - 1;
    const int64_t lanes = Channels::Width();
    for (const int32_t* e = begin; e < end; ++e) {
      const float* taps = weights + *e * (lanes * 3 * vectors);
      for (int o = kFirst; o <= kLast; ++o) {
        const float* tap = taps + lanes * (position - o) * vectors;
        for (int v = 0; v < vectors; ++v) {
          sums[o][v] = hn::Add(sums[o][v], hn::LoadU(Tag(), tap + v * lanes));
        }
      }
    }
  }
};

template <int vectors, int pixels>
void SpikeConvRowAs(const SpikeConvolution& convolution, const ColumnSums& sums,
                    const RowOutput& output) {
  const int64_t row_width = convolution.map.pooled().width;
  const int64_t lanes = Channels::Width();
  const Vector factor = hn::Set(Tag(), sums.factor);
  for (int64_t x = 0; x < row_width; x += pixels) {
    OutputTile<vectors, pixels> tile;
    tile.Clear();
    const auto walk = [&]<int position>(std::integral_constant<int, position>) HWY_ATTR {
      const int64_t column = x - 1 + position;
      if (column < 0 || column >= row_width) return;
      const int32_t* starts = sums.starts + column;
      tile.template Walk<position>(sums.entries + starts[0], sums.entries + starts[1],
                                   sums.block_weights);
    };
    [&]<int... position>(std::integer_sequence<int, position...>) HWY_ATTR {
      (walk(std::integral_constant<int, position>{}), ...);
    }
    (std::make_integer_sequence<int, pixels + 2>{});
    for (int o = 0; o < pixels && x + o < row_width; ++o) {
      float* out = output.data + (x + o) * output.stride;
      for (int v = 0; v < vectors && v * lanes < output.channels; ++v) {
        const Channels channels(v * lanes, output.channels);
        Vector result = hn::Mul(factor, tile.sums[o][v]);
        if (sums.accumulate) result = hn::Add(channels.Load(out + v * lanes), result);
        channels.Store(result, out + v * lanes);
      }
    }
  }
}

void SpikeConvRowSimd(const SpikeConvolution& convolution, const ColumnSums& sums,
                      const RowOutput& output) {
  static_assert(kMaxBlockVectors == 4);
  // Tiles of about a dozen sums: what fits the sixteen registers of AVX2.
  constexpr SpikeConvRow* kBySize[] = {SpikeConvRowAs<1, 8>, SpikeConvRowAs<2, 6>,
                                       SpikeConvRowAs<3, 4>, SpikeConvRowAs<4, 3>};
  kBySize[convolution.block_channels / Channels::Width() - 1](convolution, sums, output);
}

template <int vectors, int groups>
void PatternConvRowAs(const PatternConvolution& convolution, const uint8_t* patterns,
                      const float* block_table, const RowOutput& output) {
  constexpr int kColumns = groups / 3;
  const int64_t lanes = Channels::Width();
  const int64_t group_table = convolution.patterns() * vectors * lanes;
  const int64_t row = convolution.pattern_row();
  for (int64_t x = 0; x < convolution.map.width; ++x) {
    Vector sums[vectors];
    for (Vector& sum : sums) sum = hn::Zero(Tag());
    for (int group = 0; group < groups; ++group) {
      const int64_t pattern = patterns[group / kColumns * row + x + group % kColumns];
      const float* from = block_table + group * group_table + pattern * vectors * lanes;
      for (int v = 0; v < vectors; ++v) {
        sums[v] = hn::Add(sums[v], hn::LoadU(Tag(), from + v * lanes));
      }
    }
    float* out = output.data + x * output.stride;
    for (int v = 0; v < vectors && v * lanes < output.channels; ++v) {
      Channels(v * lanes, output.channels).Store(sums[v], out + v * lanes);
    }
  }
}

void PatternConvRowSimd(const PatternConvolution& convolution, const uint8_t* patterns,
                        const float* block_table, const RowOutput& output) {
  static_assert(kMaxBlockVectors == 4);
  constexpr PatternConvRow* kBySize[2][4] = {{PatternConvRowAs<1, 3>, PatternConvRowAs<2, 3>,
                                              PatternConvRowAs<3, 3>, PatternConvRowAs<4, 3>},
                                             {PatternConvRowAs<1, 9>, PatternConvRowAs<2, 9>,
                                              PatternConvRowAs<3, 9>, PatternConvRowAs<4, 9>}};
  kBySize[convolution.groups() == 9][convolution.block_channels / Channels::Width() - 1](
      convolution, patterns, block_table, output);
}

/// Sums of three neighbouring taps at once: their gradients are neighbours too.
template <int vectors>
void WeightGradientRows(const int32_t* begin, const int32_t* end, const float* bordered,
                        int64_t width, Vector factor, float* rows) {
  const int64_t lanes = Channels::Width();
  Vector sums[3][vectors];
  for (auto& tap : sums) {
    for (Vector& sum : tap) sum = hn::Zero(Tag());
  }
  for (const int32_t* e = begin; e < end; ++e) {
    const float* right =
        bordered + (*e + 1) * width;  // tap 0 of a row looks one pixel to the right
    for (int tap = 0; tap < 3; ++tap) {
      for (int v = 0; v < vectors; ++v) {
        sums[tap][v] = hn::Add(sums[tap][v], hn::LoadU(Tag(), right - tap * width + v * lanes));
      }
    }
  }
  for (int tap = 0; tap < 3; ++tap) {
    for (int v = 0; v < vectors; ++v) {
      float* row = rows + (tap * vectors + v) * lanes;
      hn::StoreU(hn::Add(hn::LoadU(Tag(), row), hn::Mul(factor, sums[tap][v])), Tag(), row);
    }
  }
}

void SpikeConvWeightGradientSimd(const SpikeConvolution& convolution, const SpikePlane& plane,
                                 const SpikeLists& by_channel, const float* bordered,
                                 float* block_gradient) {
  const int64_t channels = convolution.map.source.channels;
  const int64_t lanes = Channels::Width();
  const int64_t width = convolution.block_channels;
  const int64_t row = convolution.map.pooled().width + 2;
  const Vector factor = hn::Set(Tag(), plane.weight * convolution.map.scale());
  static_assert(kMaxBlockVectors == 4);  // 3 taps x 4 vectors fit the registers of AVX2
  constexpr decltype(&WeightGradientRows<1>) kBySize[] = {
      WeightGradientRows<1>, WeightGradientRows<2>, WeightGradientRows<3>, WeightGradientRows<4>};
  const auto add_rows = kBySize[width / lanes - 1];
  for (int64_t in = 0; in < channels; ++in) {
    const int32_t* begin = by_channel.entries + by_channel.starts[in];
    const int32_t* end = by_channel.entries + by_channel.starts[in + 1];
    if (begin == end) continue;
    for (int64_t ky = 0; ky < 3; ++ky) {
      add_rows(begin, end, bordered + (1 - ky) * row * width, width, factor,
               block_gradient + (ky * channels + in) * 3 * width);
    }
  }
}

void SetSpikeConvolutionKernels(KernelSet& set) {
  set.list_columns = ListColumnsSimd;
  set.spike_conv_row = SpikeConvRowSimd;
  set.pattern_conv_row = PatternConvRowSimd;
  set.spike_conv_weight_gradient = SpikeConvWeightGradientSimd;
}

}  // namespace bntt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bntt::kernels {

HWY_EXPORT(SetSpikeConvolutionKernels);

void set_spike_convolution_kernels(KernelSet& set) {
  HWY_DYNAMIC_DISPATCH(SetSpikeConvolutionKernels)(set);
}

}  // namespace bntt::kernels
#endif
