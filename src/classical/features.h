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

/// The features of a recording that are not 0, in ascending order: most of them are 0.
using SparseFeatures = std::vector<FeatureEntry>;

SparseFeatures sparse_features(std::span<const double> dense);

/// Scales to Euclidean length 1; all zeros stay.
void normalise_length(SparseFeatures& features);

}  // namespace bntt
