#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bntt {

struct FeatureEntry {
  int32_t index = 0;
  float value = 0.0F;
  bool operator==(const FeatureEntry&) const = default;
};

/// The nonzero features of a recording, in ascending order of index: most features are 0.
using SparseFeatures = std::vector<FeatureEntry>;

SparseFeatures sparse_features(std::span<const double> dense);

/// Scales to Euclidean length 1; leaves all zeros unchanged.
void normalise_length(SparseFeatures& features);

}  // namespace bntt
