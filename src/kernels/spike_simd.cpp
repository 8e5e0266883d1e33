#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "kernels/simd_kernels.h"

// One source, compiled by Highway once per target; the plain reference serves machines below AVX2.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/spike_simd.cpp"
#include "kernels/simd_targets.h"
// After the targets, which it depends on.
#include "kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bntt::kernels::HWY_NAMESPACE {

void AddSpikesSimd(const PooledMap& map, const SpikeWord* words, float weight, float* dense) {
  const MapShape pooled = map.pooled();
  const int64_t channels = map.source.channels;
  const int64_t words_per_pixel = (channels + kSpikesPerWord - 1) / kSpikesPerWord;
  const Vector value = hn::Set(Tag(), weight * map.scale());
  for (int64_t y = 0; y < pooled.height * map.pool_height; ++y) {
    for (int64_t x = 0; x < pooled.width * map.pool_width; ++x) {
      const SpikeWord* pixel = words + (y * map.source.width + x) * words_per_pixel;
      float* out = dense + (y / map.pool_height * pooled.width + x / map.pool_width) * channels;
      for (int64_t c = 0; c < channels; c += Channels::Width()) {
        uint8_t bytes[8] = {};
        const SpikeWord bits = pixel[c / kSpikesPerWord] >> (c % kSpikesPerWord);
        std::memcpy(bytes, &bits, sizeof bits);
        const Channels lanes(c, channels);
        const Mask set = hn::LoadMaskBits(Tag(), bytes);
        lanes.Store(hn::Add(lanes.Load(out + c), hn::IfThenElseZero(set, value)), out + c);
      }
    }
  }
}

/// Sums of `pixels` neighbouring outputs, `vectors` registers each. A spike adds to up to three of
/// them, which keeps as many additions under way as the hardware can; each output still adds its
/// rows in the order of taps, then of the list.
template <int vectors, int pixels>
struct OutputTile {
  Vector sums[pixels][vectors];

  void Clear() {
    for (auto& pixel : sums) {
      for (Vector& sum : pixel) sum = hn::Zero(Tag());
    }
  }

  /// The spikes of the source pixel at `position` (0 lies left of the tile): output o sees it
  /// through tap column position - o of this row of taps.
  template <int position>
  HWY_INLINE void Walk(const int32_t* begin, const int32_t* end, const float* row_weights,
                       int64_t tap_stride, int64_t width) {
    constexpr int kFirst = position < 2 ? 0 : position - 2;
    constexpr int kLast = position < pixels ? position : pixels - 1;
    const int64_t lanes = Channels::Width();
    for (const int32_t* e = begin; e < end; ++e) {
      const float* row = row_weights + *e * width;
      for (int o = kFirst; o <= kLast; ++o) {
        const float* tap_row = row + (position - o) * tap_stride;
        for (int v = 0; v < vectors; ++v) {
          sums[o][v] = hn::Add(sums[o][v], hn::LoadU(Tag(), tap_row + v * lanes));
        }
      }
    }
  }
};

template <int vectors, int pixels>
void SpikeConvForwardAs(const SpikeConvolution& convolution, const SpikePlane& plane,
                        const SpikeLists& by_pixel, const float* packed_weights, bool accumulate,
                        float* output) {
  const MapShape map = convolution.map.pooled();
  const int64_t lanes = Channels::Width();
  const int64_t width = vectors * lanes;
  const int64_t tap_stride = map.channels * width;
  const Vector factor = hn::Set(Tag(), plane.weight * convolution.map.scale());
  for (int64_t block = 0; block < convolution.blocks(); ++block) {
    const float* weights = packed_weights + block * convolution.block_weights();
    for (int64_t row = 0; row < plane.frames * map.height; ++row) {
      const int64_t y = row % map.height;
      for (int64_t x = 0; x < map.width; x += pixels) {
        OutputTile<vectors, pixels> tile;
        tile.Clear();
        for (int64_t ky = y == 0 ? 1 : 0; ky < (y == map.height - 1 ? 2 : 3); ++ky) {
          const float* row_weights = weights + ky * 3 * tap_stride;
          const int64_t first = (row + ky - 1) * map.width + x - 1;
          const auto walk = [&]<int position>(std::integral_constant<int, position>) HWY_ATTR {
            const int64_t from_x = x - 1 + position;
            if (from_x < 0 || from_x >= map.width) return;
            const int32_t* starts = by_pixel.starts + first + position;
            tile.template Walk<position>(by_pixel.entries + starts[0], by_pixel.entries + starts[1],
                                         row_weights, tap_stride, width);
          };
          [&]<int... position>(std::integer_sequence<int, position...>) HWY_ATTR {
            (walk(std::integral_constant<int, position>{}), ...);
          }
          (std::make_integer_sequence<int, pixels + 2>{});
        }
        for (int o = 0; o < pixels && x + o < map.width; ++o) {
          float* out = output + (row * map.width + x + o) * convolution.output_channels;
          for (int v = 0; v < vectors; ++v) {
            const int64_t channel = block * width + v * lanes;
            if (channel >= convolution.output_channels) break;
            const Channels channels(channel, convolution.output_channels);
            Vector result = hn::Mul(factor, tile.sums[o][v]);
            if (accumulate) result = hn::Add(channels.Load(out + channel), result);
            channels.Store(result, out + channel);
          }
        }
      }
    }
  }
}

/// Sums of three neighbouring taps at once: their gradients are neighbours too.
template <int vectors>
void WeightGradientRows(const int32_t* begin, const int32_t* end, const float* bordered,
                        int64_t width, Vector factor, int64_t tap_stride, float* rows) {
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
      float* row = rows + tap * tap_stride + v * lanes;
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
  const int64_t tap_stride = channels * width;
  for (int64_t in = 0; in < channels; ++in) {
    const int32_t* begin = by_channel.entries + by_channel.starts[in];
    const int32_t* end = by_channel.entries + by_channel.starts[in + 1];
    if (begin == end) continue;
    for (int64_t ky = 0; ky < 3; ++ky) {
      add_rows(begin, end, bordered + (1 - ky) * row * width, width, factor, tap_stride,
               block_gradient + (ky * 3 * channels + in) * width);
    }
  }
}

void SpikeConvForwardSimd(const SpikeConvolution& convolution, const SpikePlane& plane,
                          const SpikeLists& by_pixel, const float* packed_weights, bool accumulate,
                          float* output) {
  static_assert(kMaxBlockVectors == 4);
  // Tiles of about a dozen sums: what fits the sixteen registers of AVX2.
  constexpr SpikeConvForward* kBySize[] = {SpikeConvForwardAs<1, 8>, SpikeConvForwardAs<2, 6>,
                                           SpikeConvForwardAs<3, 4>, SpikeConvForwardAs<4, 3>};
  kBySize[convolution.block_channels / Channels::Width() - 1](convolution, plane, by_pixel,
                                                              packed_weights, accumulate, output);
}

template <int vectors>
void SumRowsAs(const SpikeLists& lists, int64_t count, const RowSums& sums) {
  const int64_t lanes = Channels::Width();
  const Vector factor = hn::Set(Tag(), sums.factor);
  for (int64_t i = 0; i < count; ++i) {
    Vector total[vectors];
    for (Vector& sum : total) sum = hn::Zero(Tag());
    for (int32_t e = lists.starts[i]; e < lists.starts[i + 1]; ++e) {
      const float* row = sums.table + lists.entries[e] * sums.width;
      for (int v = 0; v < vectors; ++v) {
        total[v] = hn::Add(total[v], hn::LoadU(Tag(), row + v * lanes));
      }
    }
    float* out = sums.out + i * sums.out_stride;
    for (int v = 0; v < vectors && v * lanes < sums.columns; ++v) {
      const Channels columns(v * lanes, sums.columns);
      Vector result = hn::Mul(factor, total[v]);
      if (sums.accumulate) result = hn::Add(columns.Load(out + v * lanes), result);
      columns.Store(result, out + v * lanes);
    }
  }
}

void SumRowsSimd(const SpikeLists& lists, int64_t count, const RowSums& sums) {
  static_assert(kMaxSumVectors == 8);
  constexpr SumRows* kBySize[] = {SumRowsAs<1>, SumRowsAs<2>, SumRowsAs<3>, SumRowsAs<4>,
                                  SumRowsAs<5>, SumRowsAs<6>, SumRowsAs<7>, SumRowsAs<8>};
  kBySize[sums.width / Channels::Width() - 1](lists, count, sums);
}

// The reference's loop: what every target here has, and the plain x86-64 lacks, is the instruction.
int64_t CountSpikesSimd(const SpikeWord* words, int64_t count) {
  int64_t spikes = 0;
  for (int64_t i = 0; i < count; ++i) spikes += std::popcount(words[i]);
  return spikes;
}

void SetSpikeKernels(KernelSet& set) {
  set.add_spikes = AddSpikesSimd;
  set.count_spikes = CountSpikesSimd;
  set.spike_conv_forward = SpikeConvForwardSimd;
  set.spike_conv_weight_gradient = SpikeConvWeightGradientSimd;
  set.sum_rows = SumRowsSimd;
}

}  // namespace bntt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bntt::kernels {

HWY_EXPORT(SetSpikeKernels);

void set_spike_kernels(KernelSet& set) { HWY_DYNAMIC_DISPATCH(SetSpikeKernels)(set); }

}  // namespace bntt::kernels
#endif
