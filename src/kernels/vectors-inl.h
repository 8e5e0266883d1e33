// Per-target include guard: Highway compiles the files that include this once per target.
#if defined(BNTT_KERNELS_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BNTT_KERNELS_VECTORS_INL_H
#undef BNTT_KERNELS_VECTORS_INL_H
#else
#define BNTT_KERNELS_VECTORS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "bntt/signal.h"

HWY_BEFORE_NAMESPACE();
namespace bntt::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = HWY_FULL(float);
using Vector = hn::Vec<Tag>;
using Mask = hn::Mask<Tag>;

/// The upper halves of floats, rounded like rounded_to_bfloat16().
using HalfTag = hn::Rebind<uint16_t, Tag>;
HWY_INLINE hn::Vec<HalfTag> RoundedHalves(Vector v) {
  const hn::Rebind<uint32_t, Tag> word_tag;
  const auto bits = hn::BitCast(word_tag, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(word_tag, 1));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(word_tag, 0x7fff)));
  const auto quiet = hn::Or(bits, hn::Set(word_tag, 0x10000));
  const auto nan = hn::RebindMask(word_tag, hn::IsNaN(v));
  return hn::TruncateTo(HalfTag(), hn::ShiftRight<16>(hn::IfThenElse(nan, quiet, rounded)));
}

HWY_INLINE Vector Widened(hn::Vec<HalfTag> halves) {
  const hn::Rebind<uint32_t, Tag> word_tag;
  return hn::BitCast(Tag(), hn::ShiftLeft<16>(hn::PromoteTo(word_tag, halves)));
}

HWY_INLINE Vector LoadWhole(const float* from) { return hn::LoadU(Tag(), from); }
/// Loads the upper halves of floats.
HWY_INLINE Vector LoadWhole(const uint16_t* from) { return Widened(hn::LoadU(HalfTag(), from)); }

/// Masked loads and stores touch no memory that the mask leaves out. NEON's are whole ones with a
/// choice between old and new lanes.
constexpr bool kMasksMemory = HWY_MEM_OPS_MIGHT_FAULT == 0;
/// The same for 16-bit lanes, which AVX2 cannot mask.
constexpr bool kMasksHalves = kMasksMemory && HWY_TARGET != HWY_AVX2;

/// Writes the spikes of a vector of channels, of which `channel` is the first, to their byte. Two
/// vectors of four lanes share a byte: the first of them clears the bits of the second.
HWY_INLINE void StoreSpikes(Mask fired, int64_t channel, uint8_t* byte) {
  if constexpr (hn::MaxLanes(Tag()) >= 8) {
    hn::StoreMaskBits(Tag(), fired, byte);
  } else {
    uint8_t bits = 0;
    hn::StoreMaskBits(Tag(), fired, &bits);
    *byte = channel % 8 == 0 ? bits : static_cast<uint8_t>(*byte | bits << channel % 8);
  }
}

/// A full vector of channels, or the remainder at the end of a row: past the end, loads give zero
/// and stores do nothing.
class Channels {
 public:
  Channels(int64_t first, int64_t end)
      : whole_(end - first >= Width()),
        count_(std::clamp<int64_t>(end - first, 0, Width())),
        mask_(hn::FirstN(Tag(), static_cast<size_t>(count_))) {}

  static int64_t Width() { return static_cast<int64_t>(hn::Lanes(Tag())); }

  Vector Load(const float* from) const {
    if (HWY_LIKELY(whole_)) return hn::LoadU(Tag(), from);
    if constexpr (kMasksMemory) {
      return hn::MaskedLoad(mask_, Tag(), from);
    } else {
      HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)] = {};
      for (int64_t i = 0; i < count_; ++i) lanes[i] = from[i];
      return hn::Load(Tag(), lanes);
    }
  }
  /// Loads the upper halves of floats.
  Vector Load(const uint16_t* from) const {
    if (HWY_LIKELY(whole_)) return LoadWhole(from);
    if constexpr (kMasksHalves) return Widened(hn::MaskedLoad(HalfMask(), HalfTag(), from));
    HWY_ALIGN uint16_t lanes[HWY_MAX_BYTES / sizeof(float)] = {};
    std::copy_n(from, count_, lanes);
    return LoadWhole(lanes);
  }
  void Store(Vector v, float* to) const {
    if (HWY_LIKELY(whole_)) {
      hn::StoreU(v, Tag(), to);
    } else if constexpr (HWY_TARGET == HWY_AVX2 || !kMasksMemory) {
      // AMD's cores before Zen 4 take about twenty cycles for AVX2's masked store; this takes one
      // cycle per lane.
      HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
      hn::Store(v, Tag(), lanes);
      for (int64_t i = 0; i < count_; ++i) to[i] = lanes[i];
    } else {
      hn::BlendedStore(v, mask_, Tag(), to);
    }
  }
  /// Stores the vector, rounded to what the memory holds, and returns what it holds.
  Vector StoreRounded(Vector v, float* to) const {
    Store(v, to);
    return v;
  }
  Vector StoreRounded(Vector v, uint16_t* to) const {
    const auto halves = RoundedHalves(v);
    if (HWY_LIKELY(whole_)) {
      hn::StoreU(halves, HalfTag(), to);
    } else if constexpr (kMasksHalves) {
      hn::BlendedStore(halves, HalfMask(), HalfTag(), to);
    } else {
      HWY_ALIGN uint16_t lanes[HWY_MAX_BYTES / sizeof(float)];
      hn::Store(halves, HalfTag(), lanes);
      std::copy_n(lanes, count_, to);
    }
    return Widened(halves);
  }
  SpikeWord Bits(Mask fired) const {
    uint8_t bytes[8] = {};
    hn::StoreMaskBits(Tag(), hn::And(fired, mask_), bytes);
    SpikeWord bits = 0;
    std::memcpy(&bits, bytes, sizeof bits);
    return bits;
  }

 private:
  hn::Mask<HalfTag> HalfMask() const { return hn::FirstN(HalfTag(), static_cast<size_t>(count_)); }

  bool whole_;
  int64_t count_;
  Mask mask_;
};

}  // namespace bntt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
