#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bntt {

/// A percentile of the positive numbers in a stream. Near 100 it keeps few of them.
class LargestValues {
 public:
  /// Of at most `most` numbers.
  LargestValues(double percentile, int64_t most);

  void add(std::span<const float> values);
  /// Whether a positive number was among them.
  bool any() const { return positive_ > 0; }
  /// Between two numbers of the stream, along a straight line.
  float percentile() const;

 private:
  void drop_smaller();

  double share_above_;
  std::size_t kept_;
  std::vector<float> largest_;
  float smallest_kept_ = 0.0F;
  int64_t positive_ = 0;
};

/// The percentile of these numbers, of whatever sign; 100 gives the largest. Changes their order.
float percentile_of(std::span<float> values, double percentile);

}  // namespace bntt
