#pragma once

#include <cstdint>

/// The largest numbers that a spec may hold: far above any real network, and low enough that no
/// product or sum over stages, steps and a batch overflows int64.
namespace bntt {

inline constexpr int64_t kMaxSteps = int64_t{1} << 16;
inline constexpr int64_t kMaxKernel = 63;
inline constexpr int64_t kMaxExtent = int64_t{1} << 16;
inline constexpr int64_t kMaxChannels = int64_t{1} << 20;

}  // namespace bntt
