#include "convert/largest_values.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/check.h"

namespace bntt {
namespace {

/// The number at a rank between the largest (0) and the smallest. Changes the order.
float at_rank(std::span<float> values, double rank) {
  const auto low = static_cast<std::ptrdiff_t>(rank);
  std::nth_element(values.begin(), values.begin() + low, values.end(), std::greater<>());
  const double upper = values[low];
  const double part = rank - static_cast<double>(low);
  if (part == 0.0) return values[low];
  const double lower = *std::max_element(values.begin() + low + 1, values.end());
  return static_cast<float>(upper + part * (lower - upper));
}

}  // namespace

LargestValues::LargestValues(double percentile, int64_t most)
    : share_above_(1.0 - percentile / 100.0),
      kept_(static_cast<std::size_t>(share_above_ * static_cast<double>(most)) + 2) {}

void LargestValues::add(std::span<const float> values) {
  for (const float value : values) {
    if (!(value > 0.0F)) continue;
    ++positive_;
    if (largest_.size() >= kept_ && value <= smallest_kept_) continue;
    largest_.push_back(value);
    if (largest_.size() >= 2 * kept_ + 1024) drop_smaller();
  }
}

void LargestValues::drop_smaller() {
  std::nth_element(largest_.begin(), largest_.begin() + static_cast<std::ptrdiff_t>(kept_) - 1,
                   largest_.end(), std::greater<>());
  largest_.resize(kept_);
  smallest_kept_ = largest_.back();
}

float LargestValues::percentile() const {
  BNTT_CHECK(any());
  std::vector<float> values = largest_;
  return at_rank(values, share_above_ * static_cast<double>(positive_ - 1));
}

float percentile_of(std::span<float> values, double percentile) {
  return at_rank(values, (1.0 - percentile / 100.0) * static_cast<double>(values.size() - 1));
}

}  // namespace bntt
