#include "classical/features.h"

#include <cmath>

namespace bntt {

SparseFeatures sparse_features(std::span<const double> dense) {
  SparseFeatures features;
  for (std::size_t i = 0; i < dense.size(); ++i) {
    const auto value = static_cast<float>(dense[i]);
    if (value != 0.0F) features.push_back({.index = static_cast<int32_t>(i), .value = value});
  }
  return features;
}

void normalise_length(SparseFeatures& features) {
  double squares = 0.0;
  for (const FeatureEntry& entry : features) {
    squares += static_cast<double>(entry.value) * entry.value;
  }
  if (squares == 0.0) return;
  const double factor = 1.0 / std::sqrt(squares);
  for (FeatureEntry& entry : features) entry.value = static_cast<float>(entry.value * factor);
}

}  // namespace bntt
