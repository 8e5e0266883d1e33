#include "kernels/kernel_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "bntt/error.h"

namespace bntt::kernels {
namespace {

const KernelSet& chosen_set() {
  const char* wanted = std::getenv("BNTT_KERNELS");
  if (wanted == nullptr || *wanted == '\0') return kernel_sets().front();
  const auto found = std::ranges::find(kernel_sets(), wanted, &KernelSet::name);
  if (found != kernel_sets().end()) return *found;
  std::string names;
  for (const KernelSet& set : kernel_sets()) names += (names.empty() ? "" : ", ") + set.name;
  throw Error(
      fmt::format("BNTT_KERNELS is '{}', expected one of {} on this machine", wanted, names));
}

}  // namespace

int64_t KernelSet::channels_per_block(int64_t output_channels) const {
  const int64_t vectors = (output_channels + vector_floats - 1) / vector_floats;
  return std::min(vectors, kMaxBlockVectors) * vector_floats;
}

int64_t KernelSet::columns_per_block(int64_t columns) const {
  const int64_t vectors = (columns + vector_floats - 1) / vector_floats;
  return std::min(vectors, kMaxSumVectors) * vector_floats;
}

int64_t KernelSet::integer_columns_per_block(int64_t columns) const {
  const int64_t pair = 4 * vector_floats;
  return std::min((columns + pair - 1) / pair, kMaxIntegerSumVectors) * pair;
}

const std::vector<KernelSet>& kernel_sets() {
  static const std::vector<KernelSet> sets = [] {
    std::vector<KernelSet> list = simd_kernels();
    list.push_back(reference_kernels());
    return list;
  }();
  return sets;
}

const KernelSet& kernels() {
  static const KernelSet& set = chosen_set();
  return set;
}

}  // namespace bntt::kernels
