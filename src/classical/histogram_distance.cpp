#include "classical/histogram_distance.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace bntt {
namespace {

std::vector<double> shares(std::span<const double> histogram) {
  const double sum = std::accumulate(histogram.begin(), histogram.end(), 0.0);
  std::vector<double> result(histogram.begin(), histogram.end());
  for (double& value : result) value = sum > 0.0 ? value / sum : 0.0;
  return result;
}

double euclid(std::span<const double> a, std::span<const double> b) {
  double squares = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

}  // namespace

double histogram_distance(HistogramDistance kind, std::span<const double> a,
                          std::span<const double> b) {
  if (kind == HistogramDistance::euclid) return euclid(a, b);
  const std::vector<double> share_a = shares(a);
  const std::vector<double> share_b = shares(b);
  if (kind == HistogramDistance::normalised) return euclid(share_a, share_b);
  double overlap = 0.0;
  for (std::size_t i = 0; i < share_a.size(); ++i) overlap += std::sqrt(share_a[i] * share_b[i]);
  return -std::log(overlap);
}

NearestHistogram::NearestHistogram(HistogramDistance kind, int64_t classes, int64_t bins)
    : kind_(kind),
      sums_(static_cast<std::size_t>(classes), std::vector<double>(static_cast<std::size_t>(bins))),
      counts_(static_cast<std::size_t>(classes)) {}

void NearestHistogram::add(std::span<const double> histogram, int64_t label) {
  const std::vector<double> added = kind_ == HistogramDistance::euclid
                                        ? std::vector(histogram.begin(), histogram.end())
                                        : shares(histogram);
  for (std::size_t i = 0; i < added.size(); ++i) sums_[label][i] += added[i];
  ++counts_[label];
}

std::vector<double> NearestHistogram::distances(std::span<const double> histogram) const {
  std::vector<double> result;
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    std::vector<double> mean = sums_[k];
    for (double& value : mean) value /= static_cast<double>(counts_[k]);
    result.push_back(counts_[k] == 0 ? std::numeric_limits<double>::infinity()
                                     : histogram_distance(kind_, histogram, mean));
  }
  return result;
}

}  // namespace bntt
