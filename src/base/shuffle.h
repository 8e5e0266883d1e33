#pragma once

#include <cstdint>
#include <vector>

namespace bntt {

/// A permutation of [begin, end): the order of the samples in an epoch, a pure function of the
/// arguments.
std::vector<int64_t> shuffled(int64_t begin, int64_t end, uint64_t seed, uint32_t epoch);

}  // namespace bntt
