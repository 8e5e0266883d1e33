#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bntt {

/// A percentile of the positive numbers in a stream. Near 100 it stores only few of them.
class LargestValues {
 public:
  /// For a stream of at most `most` numbers.
  LargestValues(double percentile, int64_t most);

  void add(std::span<const float> values);
  /// Whether there was a positive number.
  bool any() const { return positive_ > 0; }
  /// Interpolates linearly between two numbers of the stream.
  float percentile() const;

 private:
  void drop_smaller();

  double share_above_;
  std::size_t kept_;
  std::vector<float> largest_;
  float smallest_kept_ = 0.0F;
  int64_t positive_ = 0;
};

/// The percentile of these numbers, whatever their sign; 100 gives the largest. Changes their
/// order.
float percentile_of(std::span<float> values, double percentile);

}  // namespace bntt
