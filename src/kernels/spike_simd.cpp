#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/simd_kernels.h"

// One source, compiled by Highway once per target; the plain reference serves the others.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/spike_simd.cpp"
#include "kernels/simd_targets.h"
// After the targets, on which it depends.
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

// The reference's loop; every target here has a popcount instruction, which plain x86-64 lacks.
int64_t CountSpikesSimd(const SpikeWord* words, int64_t count) {
  int64_t spikes = 0;
  for (int64_t i = 0; i < count; ++i) spikes += std::popcount(words[i]);
  return spikes;
}

void SetSpikeKernels(KernelSet& set) {
  set.add_spikes = AddSpikesSimd;
  set.count_spikes = CountSpikesSimd;
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
