#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/simd_kernels.h"

// One source, compiled by Highway once per target; the plain reference serves machines below AVX2.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/integer_simd.cpp"
#include "kernels/simd_targets.h"
// After the targets, which it depends on.
#include "kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bntt::kernels::HWY_NAMESPACE {

using Words = HWY_FULL(int16_t);
constexpr auto kWords = static_cast<int64_t>(hn::MaxLanes(Words()));
// At least one: Highway compiles for a plain processor too, though we never use that.
constexpr int64_t kHalfWords = std::max<int64_t>(1, kWords / 2);
constexpr int64_t kQuarterWords = std::max<int64_t>(1, kWords / 4);
constexpr auto kRoom = static_cast<int32_t>(kIntegerAdds);

/// Stores 16-bit sums as 32-bit ones, or adds them to those that are there.
template <class D>
HWY_INLINE void Widen(hn::Vec<D> sums, bool add, int32_t* to) {
  constexpr size_t kLanes = hn::MaxLanes(D());
  constexpr size_t kWide = std::min(kLanes, hn::MaxLanes(Tag()));
  const hn::CappedTag<int32_t, kWide> wide;
  const hn::Rebind<int16_t, decltype(wide)> narrow;
  HWY_ALIGN int16_t lanes[kLanes];
  hn::Store(sums, D(), lanes);
  for (size_t i = 0; i < kLanes; i += kWide) {
    auto result = hn::PromoteTo(wide, hn::LoadU(narrow, lanes + i));
    if (add) result = hn::Add(result, hn::LoadU(wide, to + i));
    hn::StoreU(result, wide, to + i);
  }
}

/// The sums of one row of pairs: of whole words, and of their second weights.
template <class D>
struct PairSums {
  hn::Vec<D> words, seconds;

  // Not left to the compiler, which would make it for the plain processor and not for the target.
  HWY_INLINE PairSums() : words(hn::Zero(D())), seconds(words) {}

  HWY_INLINE void Add(const int16_t* row) {
    const auto pair = hn::LoadU(D(), row);
    words = hn::Add(words, pair);
    // round(pair · 128 / 2¹⁵) = round(pair / 256)
    seconds = hn::Add(seconds, hn::MulFixedPoint15(pair, hn::Set(D(), int16_t{128})));
  }

  /// `second` is where the second weights' sums go.
  HWY_INLINE void Store(bool add, int32_t* first, int32_t* second) const {
    Widen<D>(hn::Sub(words, hn::ShiftLeft<8>(seconds)), add, first);
    Widen<D>(seconds, add, second);
  }
};

/// Sums of `pixels` neighbouring outputs; see OutputTile of the float convolution.
template <class D, int pixels, int kernel, int stride>
struct PairTile {
  static constexpr int kColumns = (pixels - 1) * stride + kernel;
  static constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
  PairSums<D> sums[pixels];  // NOLINT(modernize-use-default-member-init)

  // Written out for the same reason as that of PairSums.
  HWY_INLINE PairTile() : sums{} {}

  HWY_INLINE void Store(bool add, int32_t* to) const {
    for (int o = 0; o < pixels; ++o) {
      sums[o].Store(add, to + 2 * kLanes * o, to + 2 * kLanes * o + kLanes);
    }
  }

  template <int position>
  HWY_INLINE void Walk(const int32_t* begin, const int32_t* end, const int16_t* words) {
    constexpr int kFirst = position < kernel ? 0 : (position - kernel) / stride + 1;
    constexpr int kLast = std::min(position / stride, pixels - 1);
    for (const int32_t* e = begin; e < end; ++e) {
      const int16_t* taps = words + int64_t{*e} * (kLanes * kernel);
      for (int o = kFirst; o <= kLast; ++o) sums[o].Add(taps + kLanes * (position - o * stride));
    }
  }
};

/// Writes sums [channel] times the factor, or adds them.
HWY_INLINE void WriteSums(const int32_t* sums, int64_t count, float factor, bool accumulate,
                          float* out) {
  const hn::RebindToSigned<Tag> integers;
  const int64_t lanes = Channels::Width();
  for (int64_t c = 0; c < count; c += lanes) {
    const Channels channels(c, count);
    Vector result =
        hn::Mul(hn::Set(Tag(), factor), hn::ConvertTo(Tag(), hn::LoadU(integers, sums + c)));
    if (accumulate) result = hn::Add(channels.Load(out + c), result);
    channels.Store(result, out + c);
  }
}

/// Calls sum(from, to, add) for the entries [begin, end) in pieces that 16 bits can hold.
template <typename Sum>
HWY_INLINE void InPieces(int32_t begin, int32_t end, const Sum& sum) {
  int32_t from = begin;
  do {
    const int32_t to = std::min(end, from + kRoom);
    sum(from, to, from != begin);
    from = to;
  } while (from < end);
}

// The lists of neighbouring columns lie side by side: a piece of a tile's entries is a run of them,
// of which each column takes its part.
template <class D, int pixels, int kernel, int stride>
void TiledPairRow(const SpikeConvolution& convolution, const IntegerColumnSums& sums,
                  const RowOutput& output) {
  using Tile = PairTile<D, pixels, kernel, stride>;
  const int64_t columns = convolution.map.pooled().width;
  const int64_t row_width = convolution.output().width;
  for (int64_t x = 0; x < row_width; x += pixels) {
    const int64_t left = x * stride - convolution.geometry.padding;
    const int32_t begin = sums.starts[std::clamp<int64_t>(left, 0, columns)];
    const int32_t end = sums.starts[std::clamp<int64_t>(left + Tile::kColumns, 0, columns)];
    HWY_ALIGN int32_t stored[2 * Tile::kLanes * pixels + hn::MaxLanes(Tag())];
    InPieces(begin, end, [&](int32_t from, int32_t to, bool add) HWY_ATTR {
      Tile tile;
      const auto walk = [&]<int position>(std::integral_constant<int, position>) HWY_ATTR {
        const int64_t column = left + position;
        if (column < 0 || column >= columns) return;
        const int32_t* starts = sums.starts + column;
        tile.template Walk<position>(sums.entries + std::max(starts[0], from),
                                     sums.entries + std::min(starts[1], to), sums.block_words);
      };
      [&]<int... position>(std::integer_sequence<int, position...>) HWY_ATTR {
        (walk(std::integral_constant<int, position>{}), ...);
      }
      (std::make_integer_sequence<int, Tile::kColumns>{});
      tile.Store(add, stored);
    });
    for (int o = 0; o < pixels && x + o < row_width; ++o) {
      WriteSums(stored + 2 * Tile::kLanes * o, output.channels, sums.factor, sums.accumulate,
                output.data + (x + o) * output.stride);
    }
  }
}

/// Any kernel and stride, one output at a time.
template <class D>
void PairRowByPixels(const SpikeConvolution& convolution, const IntegerColumnSums& sums,
                     const RowOutput& output) {
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
  const ConvGeometry& geometry = convolution.geometry;
  const int64_t columns = convolution.map.pooled().width;
  const int64_t entry_words = geometry.kernel * kLanes;
  for (int64_t x = 0; x < convolution.output().width; ++x) {
    const int64_t left = x * geometry.stride - geometry.padding;
    const int64_t first_column = std::clamp<int64_t>(left, 0, columns);
    const int64_t end_column = std::clamp<int64_t>(left + geometry.kernel, 0, columns);
    HWY_ALIGN int32_t stored[2 * kLanes + hn::MaxLanes(Tag())];
    InPieces(sums.starts[first_column], sums.starts[end_column],
             [&](int32_t from, int32_t to, bool add) HWY_ATTR {
               PairSums<D> total;
               for (int64_t column = first_column; column < end_column; ++column) {
                 const int16_t* taps = sums.block_words + (column - left) * kLanes;
                 const int32_t end = std::min(sums.starts[column + 1], to);
                 for (int32_t e = std::max(sums.starts[column], from); e < end; ++e) {
                   total.Add(taps + sums.entries[e] * entry_words);
                 }
               }
               total.Store(add, stored, stored + kLanes);
             });
    WriteSums(stored, output.channels, sums.factor, sums.accumulate,
              output.data + x * output.stride);
  }
}

// Two sums per pixel: as many pixels as leave a few of AVX2's sixteen and AVX-512's thirty-two
// registers for what is added.
constexpr int kPixels = HWY_TARGET == HWY_AVX2 ? 6 : 8;
constexpr int kStridedPixels = 4;

template <class D>
IntegerConvRow* PairRowOf(const ConvGeometry& geometry) {
  const auto is = [&](int64_t kernel, int64_t stride) {
    return geometry.kernel == kernel && geometry.stride == stride;
  };
  if (is(3, 1)) return TiledPairRow<D, kPixels, 3, 1>;
  if (is(3, 2)) return TiledPairRow<D, kStridedPixels, 3, 2>;
  if (is(5, 1)) return TiledPairRow<D, kPixels, 5, 1>;
  if (is(5, 2)) return TiledPairRow<D, kStridedPixels, 5, 2>;
  if (is(7, 1)) return TiledPairRow<D, kPixels, 7, 1>;
  if (is(7, 2)) return TiledPairRow<D, kStridedPixels, 7, 2>;
  return PairRowByPixels<D>;
}

void IntegerConvRowSimd(const SpikeConvolution& convolution, const IntegerColumnSums& sums,
                        const RowOutput& output) {
  const int64_t words = integer_row_words(convolution.block_channels);
  IntegerConvRow* row = nullptr;
  if (words == kWords) {
    row = PairRowOf<Words>(convolution.geometry);
  } else if (words == kHalfWords) {
    row = PairRowOf<hn::CappedTag<int16_t, kHalfWords>>(convolution.geometry);
  } else {
    row = PairRowOf<hn::CappedTag<int16_t, kQuarterWords>>(convolution.geometry);
  }
  row(convolution, sums, output);
}

template <int vectors, int groups>
void IntegerPatternRowAs(const PatternConvolution& convolution, const uint8_t* patterns,
                         const int16_t* block_table, const RowOutput& output) {
  constexpr int kColumns = groups / 3;
  const hn::Rebind<int16_t, Tag> shorts;
  const int64_t lanes = Channels::Width();
  const int64_t group_table = convolution.patterns() * vectors * lanes;
  const int64_t row = convolution.pattern_row();
  for (int64_t x = 0; x < convolution.map.width; ++x) {
    hn::Vec<decltype(shorts)> sums[vectors];
    for (auto& sum : sums) sum = hn::Zero(shorts);
    for (int group = 0; group < groups; ++group) {
      const int64_t pattern = patterns[group / kColumns * row + x + group % kColumns];
      const int16_t* from = block_table + group * group_table + pattern * vectors * lanes;
      for (int v = 0; v < vectors; ++v) {
        sums[v] = hn::Add(sums[v], hn::LoadU(shorts, from + v * lanes));
      }
    }
    float* out = output.data + x * output.stride;
    for (int v = 0; v < vectors && v * lanes < output.channels; ++v) {
      const auto wide = hn::PromoteTo(hn::RebindToSigned<Tag>(), sums[v]);
      Channels(v * lanes, output.channels).Store(hn::ConvertTo(Tag(), wide), out + v * lanes);
    }
  }
}

void IntegerPatternRowSimd(const PatternConvolution& convolution, const uint8_t* patterns,
                           const int16_t* block_table, const RowOutput& output) {
  static_assert(kMaxBlockVectors == 4);
  constexpr IntegerPatternRow* kBySize[2][4] = {
      {IntegerPatternRowAs<1, 3>, IntegerPatternRowAs<2, 3>, IntegerPatternRowAs<3, 3>,
       IntegerPatternRowAs<4, 3>},
      {IntegerPatternRowAs<1, 9>, IntegerPatternRowAs<2, 9>, IntegerPatternRowAs<3, 9>,
       IntegerPatternRowAs<4, 9>}};
  kBySize[convolution.groups() == 9][convolution.block_channels / Channels::Width() - 1](
      convolution, patterns, block_table, output);
}

template <int vectors>
void IntegerSumRowsAs(const SpikeLists& lists, int64_t count, const IntegerRowSums& sums) {
  constexpr int64_t kRow = vectors * kWords;
  for (int64_t i = 0; i < count; ++i) {
    HWY_ALIGN int32_t stored[2 * kRow];
    InPieces(lists.starts[i], lists.starts[i + 1],
             [&](int32_t from, int32_t to, bool add) HWY_ATTR {
               PairSums<Words> total[vectors];
               for (int32_t e = from; e < to; ++e) {
                 const int16_t* row = sums.table + int64_t{lists.entries[e]} * kRow;
                 for (int v = 0; v < vectors; ++v) total[v].Add(row + v * kWords);
               }
               for (int v = 0; v < vectors; ++v) {
                 total[v].Store(add, stored + v * kWords, stored + kRow + v * kWords);
               }
             });
    WriteSums(stored, sums.columns, sums.factor, sums.accumulate, sums.out + i * sums.out_stride);
  }
}

void IntegerSumRowsSimd(const SpikeLists& lists, int64_t count, const IntegerRowSums& sums) {
  constexpr IntegerSumRows* kBySize[] = {IntegerSumRowsAs<1>, IntegerSumRowsAs<2>,
                                         IntegerSumRowsAs<3>, IntegerSumRowsAs<4>};
  static_assert(std::size(kBySize) == kMaxIntegerSumVectors);
  kBySize[sums.width / (2 * kWords) - 1](lists, count, sums);
}

void SetIntegerKernels(KernelSet& set) {
  set.integer = {.conv_row = IntegerConvRowSimd,
                 .pattern_row = IntegerPatternRowSimd,
                 .sum_rows = IntegerSumRowsSimd};
}

}  // namespace bntt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bntt::kernels {

HWY_EXPORT(SetIntegerKernels);

void set_integer_kernels(KernelSet& set) { HWY_DYNAMIC_DISPATCH(SetIntegerKernels)(set); }

}  // namespace bntt::kernels
#endif
