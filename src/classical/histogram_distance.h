#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace bntt {

/// How HOTS compares two histograms: as they are, normalised to shares of their sums, or by -ln Σ
/// √(h₁h₂) of the shares.
enum class HistogramDistance { euclid, normalised, bhattacharyya };

constexpr auto enum_names(HistogramDistance) {
  return std::array{std::pair{HistogramDistance::euclid, "euclid"},
                    std::pair{HistogramDistance::normalised, "normalised"},
                    std::pair{HistogramDistance::bhattacharyya, "bhattacharyya"}};
}

double histogram_distance(HistogramDistance kind, std::span<const double> a,
                          std::span<const double> b);

/// The mean histogram of each class, and the class whose mean is nearest.
class NearestHistogram {
 public:
  NearestHistogram(HistogramDistance kind, int64_t classes, int64_t bins);

  /// For shares, the mean is taken over the shares.
  void add(std::span<const double> histogram, int64_t label);

  /// The distance to each class; infinite for a class without a histogram.
  std::vector<double> distances(std::span<const double> histogram) const;

 private:
  HistogramDistance kind_;
  std::vector<std::vector<double>> sums_;  // [class][bin]
  std::vector<int64_t> counts_;
};

}  // namespace bntt
