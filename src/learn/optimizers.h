#pragma once

#include <algorithm>
#include <span>

#include "base/threads.h"
#include "bntt/optimizer.h"

namespace bntt {

struct OptimizerEntry {
  const char* name;
  const char* meaning;
  std::unique_ptr<Optimizer> (*make)(const Network& network, const OptimizerOptions& options);
};
/// All kinds of optimiser.
std::span<const OptimizerEntry> optimizer_table();

/// Runs body(k) for every k below `size`, in parallel.
template <typename Body>
void for_each_number(int64_t size, const Body& body) {
  constexpr int64_t kBlock = 1 << 14;
  parallel_for((size + kBlock - 1) / kBlock, [&](int64_t block) {
    const int64_t end = std::min(size, (block + 1) * kBlock);
    for (int64_t k = block * kBlock; k < end; ++k) body(k);
  });
}

}  // namespace bntt
