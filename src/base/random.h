#pragma once

#include <Random123/philox.h>

#include <array>
#include <cstdint>

namespace bntt {

/// What a draw is for. Each purpose is its own independent stream; never renumber.
enum class Purpose : uint32_t {
  weights = 1,
  shuffle = 2,
  augmentation = 3,
  encoding = 4,
  attack = 5,
  calibration = 6,
  dropout = 7,
};

/// The position of a draw. Every random number is a pure function of (seed, purpose, place), so
/// batch size, thread count, prefetching and resuming cannot change which numbers a sample gets.
struct Place {
  uint32_t epoch = 0;
  uint32_t sample = 0;
  uint32_t step = 0;
  uint32_t block = 0;  ///< each block gives four numbers
};

/// Four independent 32-bit numbers: Philox4x32-10 (Salmon et al. 2011). Its 64-bit key holds the
/// purpose in the top eight bits, which leaves room for seeds below 2^56. A larger seed uses the
/// 128-bit key of Philox4x64-10 and the low halves of its four words: no two (seed, purpose) share
/// a key.
inline std::array<uint32_t, 4> draw4(uint64_t seed, Purpose purpose, const Place& place) {
  if (seed >> 56 != 0) {
    const r123::Philox4x64::ctr_type counter = {
        {place.block, place.step, place.sample, place.epoch}};
    const r123::Philox4x64::key_type key = {{seed, static_cast<uint64_t>(purpose)}};
    const auto bits = r123::Philox4x64{}(counter, key);
    return {static_cast<uint32_t>(bits[0]), static_cast<uint32_t>(bits[1]),
            static_cast<uint32_t>(bits[2]), static_cast<uint32_t>(bits[3])};
  }
  const r123::Philox4x32::ctr_type counter = {{place.block, place.step, place.sample, place.epoch}};
  const auto high = static_cast<uint32_t>(seed >> 32) | static_cast<uint32_t>(purpose) << 24;
  const r123::Philox4x32::key_type key = {{static_cast<uint32_t>(seed), high}};
  const auto bits = r123::Philox4x32{}(counter, key);
  return {bits[0], bits[1], bits[2], bits[3]};
}

/// Uniform in [0, 1), a multiple of 2^-24: every value is exact in a float.
inline float uniform01(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24F; }

/// Uniform in [0, bound), from the high half of a product; the bias is below bound / 2^32.
inline uint32_t uniform_below(uint32_t bits, uint32_t bound) {
  return static_cast<uint32_t>((static_cast<uint64_t>(bits) * bound) >> 32);
}

}  // namespace bntt
