#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "kernels/simd_kernels.h"

// One source, compiled by Highway once per target; the plain reference serves the others.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/spike_convolution_simd.cpp"
#include "kernels/simd_targets.h"
// After the targets, on which it depends.
#include "kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bntt::kernels::HWY_NAMESPACE {

// Both kinds of lists are written a fixed number of entries at a time, however many are needed; the
// next pixel overwrites the excess. Loops that end after one or two iterations for nearly every
// pixel would cost more in mispredicted branches than they save in stores.

/// Appends `first` + the index of every set bit.
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

/// Lists the channels that spike at each pooled pixel, in the order of the window's pixels; pixels
/// in columns that no output sees get empty lists.
template <bool skips_columns>
void ListByPixel(const SpikeConvolution& convolution, const SpikeWord* frame,
                 const SpikeLists& lists) {
  const PooledMap& map = convolution.map;
  const MapShape pooled = map.pooled();
  const int64_t words = (map.source.channels + kSpikesPerWord - 1) / kSpikesPerWord;
  int32_t* next = lists.entries;
  int32_t* start = lists.starts;
  *start++ = 0;
  for (int64_t y = 0; y < pooled.height; ++y) {
    for (int64_t x = 0; x < pooled.width; ++x) {
      const bool skipped = skips_columns && !is_seen(convolution.geometry, x);
      for (int64_t dy = 0; !skipped && dy < map.pool_height; ++dy) {
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

void ListColumnsSimd(const SpikeConvolution& convolution, const SpikeWord* frame,
                     const SpikeLists& by_pixel, const SpikeLists& columns) {
  using Integers = hn::RebindToSigned<Tag>;
  static_assert(hn::MaxLanes(Integers()) <= kListSlack);
  const ConvGeometry& geometry = convolution.geometry;
  if (geometry.stride > geometry.kernel) {
    ListByPixel<true>(convolution, frame, by_pixel);
  } else {
    ListByPixel<false>(convolution, frame, by_pixel);
  }
  const MapShape pooled = convolution.map.pooled();
  const auto lanes = static_cast<int32_t>(hn::Lanes(Integers()));
  int32_t* next = columns.entries;
  int32_t* start = columns.starts;
  *start++ = 0;
  const int64_t rows = convolution.output().height;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t top = row * geometry.stride - geometry.padding;
    const int64_t first_tap = std::max<int64_t>(0, -top);
    const int64_t end_tap = std::min(geometry.kernel, pooled.height - top);
    for (int64_t x = 0; x < pooled.width; ++x) {
      for (int64_t ky = first_tap; ky < end_tap; ++ky) {
        const int32_t* of_pixel = by_pixel.starts + (top + ky) * pooled.width + x;
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

/// Sums of `pixels` neighbouring outputs, `vectors` registers each. A spike is added to all of the
/// outputs that see it, which keeps as many additions in flight as the hardware allows; each output
/// still adds its rows in the order of tap columns, then of the list.
template <int vectors, int pixels, int kernel, int stride>
struct OutputTile {
  static constexpr int kColumns = (pixels - 1) * stride + kernel;
  Vector sums[pixels][vectors];

  // Not left to the compiler, which would make it for the plain processor and not for the target.
  HWY_INLINE OutputTile() {
    for (auto& pixel : sums) {
      for (Vector& sum : pixel) sum = hn::Zero(Tag());
    }
  }

  void Store(float* to) const {
    for (int i = 0; i < pixels * vectors; ++i) {
      hn::Store(sums[i / vectors][i % vectors], Tag(), to + i * Channels::Width());
    }
  }

  /// Adds the spikes of the column at `position` (0 is the first that output 0 sees): output o sees
  /// it through tap column position - o · stride.
  template <int position>
  HWY_INLINE void Walk(const int32_t* begin, const int32_t* end, const float* weights) {
    constexpr int kFirst = position < kernel ? 0 : (position - kernel) / stride + 1;
    constexpr int kLast = std::min(position / stride, pixels - 1);
    const int64_t lanes = Channels::Width();
    for (const int32_t* e = begin; e < end; ++e) {
      const float* taps = weights + *e * (lanes * kernel * vectors);
      for (int o = kFirst; o <= kLast; ++o) {
        const float* tap = taps + lanes * (position - o * stride) * vectors;
        for (int v = 0; v < vectors; ++v) {
          sums[o][v] = hn::Add(sums[o][v], hn::LoadU(Tag(), tap + v * lanes));
        }
      }
    }
  }
};

/// Writes the output at x. Its sums are read from memory: indexing registers with a value known
/// only at run time would make the compiler store all sums of a tile after every column.
template <int vectors>
HWY_INLINE void WriteSums(const ColumnSums& sums, Vector factor, const float* stored,
                          const RowOutput& output, int64_t x) {
  const int64_t lanes = Channels::Width();
  float* out = output.data + x * output.stride;
  for (int v = 0; v < vectors && v * lanes < output.channels; ++v) {
    const Channels channels(v * lanes, output.channels);
    Vector result = hn::Mul(factor, hn::Load(Tag(), stored + v * lanes));
    if (sums.accumulate) result = hn::Add(channels.Load(out + v * lanes), result);
    channels.Store(result, out + v * lanes);
  }
}

template <int vectors, int pixels, int kernel, int stride>
void TiledRow(const SpikeConvolution& convolution, const ColumnSums& sums,
              const RowOutput& output) {
  using Tile = OutputTile<vectors, pixels, kernel, stride>;
  const int64_t columns = convolution.map.pooled().width;
  const int64_t row_width = convolution.output().width;
  const int64_t padding = convolution.geometry.padding;
  const int64_t lanes = Channels::Width();
  const Vector factor = hn::Set(Tag(), sums.factor);
  for (int64_t x = 0; x < row_width; x += pixels) {
    Tile tile;
    const auto walk = [&]<int position>(std::integral_constant<int, position>) HWY_ATTR {
      const int64_t column = x * stride - padding + position;
      if (column < 0 || column >= columns) return;
      const int32_t* starts = sums.starts + column;
      tile.template Walk<position>(sums.entries + starts[0], sums.entries + starts[1],
                                   sums.block_weights);
    };
    [&]<int... position>(std::integer_sequence<int, position...>) HWY_ATTR {
      (walk(std::integral_constant<int, position>{}), ...);
    }
    (std::make_integer_sequence<int, Tile::kColumns>{});
    HWY_ALIGN float stored[hn::MaxLanes(Tag()) * vectors * pixels];
    tile.Store(stored);
    for (int o = 0; o < pixels && x + o < row_width; ++o) {
      WriteSums<vectors>(sums, factor, stored + lanes * vectors * o, output, x + o);
    }
  }
}

/// Any kernel and stride, one output at a time.
template <int vectors>
void RowByPixels(const SpikeConvolution& convolution, const ColumnSums& sums,
                 const RowOutput& output) {
  const ConvGeometry& geometry = convolution.geometry;
  const int64_t columns = convolution.map.pooled().width;
  const int64_t row_width = convolution.output().width;
  const int64_t lanes = Channels::Width();
  const int64_t entry_weights = geometry.kernel * vectors * lanes;
  const Vector factor = hn::Set(Tag(), sums.factor);
  for (int64_t x = 0; x < row_width; ++x) {
    Vector total[vectors];
    for (Vector& sum : total) sum = hn::Zero(Tag());
    const int64_t left = x * geometry.stride - geometry.padding;
    const int64_t end_tap = std::min(geometry.kernel, columns - left);
    for (int64_t kx = std::max<int64_t>(0, -left); kx < end_tap; ++kx) {
      const float* taps = sums.block_weights + kx * vectors * lanes;
      const int32_t* starts = sums.starts + left + kx;
      for (int32_t e = starts[0]; e < starts[1]; ++e) {
        const float* tap = taps + sums.entries[e] * entry_weights;
        for (int v = 0; v < vectors; ++v) {
          total[v] = hn::Add(total[v], hn::LoadU(Tag(), tap + v * lanes));
        }
      }
    }
    HWY_ALIGN float stored[vectors * hn::MaxLanes(Tag())];
    for (int v = 0; v < vectors; ++v) hn::Store(total[v], Tag(), stored + v * lanes);
    WriteSums<vectors>(sums, factor, stored, output, x);
  }
}

/// Indexed by the vectors of a block. Each tile has about a dozen sums, which fit the 16 registers
/// of AVX2.
template <int kernel, int stride>
constexpr SpikeConvRow* kTiled[] = {TiledRow<1, 8, kernel, stride>, TiledRow<2, 6, kernel, stride>,
                                    TiledRow<3, 4, kernel, stride>, TiledRow<4, 3, kernel, stride>};

/// Tiles for the usual kernels, whose neighbouring outputs see the same columns. If there are few
/// input channels and lists are short, tiles are two to three times as fast as one output at a
/// time; with many channels, about as fast.
SpikeConvRow* const* RowsOf(const ConvGeometry& geometry) {
  static constexpr SpikeConvRow* kByPixels[] = {RowByPixels<1>, RowByPixels<2>, RowByPixels<3>,
                                                RowByPixels<4>};
  static_assert(std::size(kByPixels) == kMaxBlockVectors);
  const auto is = [&](int64_t kernel, int64_t stride) {
    return geometry.kernel == kernel && geometry.stride == stride;
  };
  if (is(3, 1)) return kTiled<3, 1>;
  if (is(3, 2)) return kTiled<3, 2>;
  if (is(5, 1)) return kTiled<5, 1>;
  if (is(5, 2)) return kTiled<5, 2>;
  if (is(7, 1)) return kTiled<7, 1>;
  if (is(7, 2)) return kTiled<7, 2>;
  return kByPixels;
}

void SpikeConvRowSimd(const SpikeConvolution& convolution, const ColumnSums& sums,
                      const RowOutput& output) {
  const int64_t vectors = convolution.block_channels / Channels::Width();
  RowsOf(convolution.geometry)[vectors - 1](convolution, sums, output);
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

/// Sums `taps` neighbouring taps of a class at once: the gradients that they meet are adjacent too,
/// each one pixel to the left of the one before.
template <int vectors, int taps>
void WeightGradientRows(const int32_t* begin, const int32_t* end, const float* bordered,
                        Vector factor, int64_t row_step, float* rows) {
  const int64_t lanes = Channels::Width();
  const int64_t width = vectors * lanes;
  Vector sums[taps][vectors];
  for (auto& tap : sums) {
    for (Vector& sum : tap) sum = hn::Zero(Tag());
  }
  for (const int32_t* e = begin; e < end; ++e) {
    const float* first = bordered + *e * width;
    for (int tap = 0; tap < taps; ++tap) {
      for (int v = 0; v < vectors; ++v) {
        sums[tap][v] = hn::Add(sums[tap][v], hn::LoadU(Tag(), first - tap * width + v * lanes));
      }
    }
  }
  for (int tap = 0; tap < taps; ++tap) {
    for (int v = 0; v < vectors; ++v) {
      float* row = rows + tap * row_step + v * lanes;
      hn::StoreU(hn::Add(hn::LoadU(Tag(), row), hn::Mul(factor, sums[tap][v])), Tag(), row);
    }
  }
}

void SpikeConvWeightGradientSimd(const SpikeConvolution& convolution, const SpikePlane& plane,
                                 const SpikeLists& by_channel, const float* bordered,
                                 float* block_gradient) {
  const int64_t channels = convolution.map.source.channels;
  const int64_t width = convolution.block_channels;
  const int64_t kernel = convolution.geometry.kernel;
  const int64_t stride = convolution.geometry.stride;
  const int64_t classes = tap_classes(convolution.geometry);
  const int64_t border_row = gradient_border(convolution).width * width;
  const Vector factor = hn::Set(Tag(), plane.weight * convolution.map.scale());
  static_assert(kMaxBlockVectors == 4);  // 3 taps x 4 vectors fit the registers of AVX2
  constexpr int64_t kTapsTogether = 3;
  constexpr decltype(&WeightGradientRows<1, 1>) kBySize[][kTapsTogether] = {
      {WeightGradientRows<1, 1>, WeightGradientRows<1, 2>, WeightGradientRows<1, 3>},
      {WeightGradientRows<2, 1>, WeightGradientRows<2, 2>, WeightGradientRows<2, 3>},
      {WeightGradientRows<3, 1>, WeightGradientRows<3, 2>, WeightGradientRows<3, 3>},
      {WeightGradientRows<4, 1>, WeightGradientRows<4, 2>, WeightGradientRows<4, 3>}};
  const auto& add_rows = kBySize[width / Channels::Width() - 1];
  for (int64_t list = 0; list < channels * classes * classes; ++list) {
    const int32_t* begin = by_channel.entries + by_channel.starts[list];
    const int32_t* end = by_channel.entries + by_channel.starts[list + 1];
    if (begin == end) continue;
    const int64_t in = list / (classes * classes);
    const int64_t class_x = list % classes;
    const int64_t taps = (kernel - class_x + stride - 1) / stride;  // taps of the class in a row
    for (int64_t ky = list / classes % classes; ky < kernel; ky += stride) {
      const float* met = bordered - ky / stride * border_row;
      float* rows = block_gradient + ((ky * channels + in) * kernel + class_x) * width;
      for (int64_t tap = 0; tap < taps; tap += kTapsTogether) {
        const int64_t count = std::min(kTapsTogether, taps - tap);
        add_rows[count - 1](begin, end, met - tap * width, factor, stride * width,
                            rows + tap * stride * width);
      }
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
