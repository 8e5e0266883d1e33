#include <gtest/gtest.h>

#include <cmath>

#include "classical/histogram_distance.h"

namespace bntt {
namespace {

double distance(HistogramDistance kind, std::vector<double> b) {
  return histogram_distance(kind, std::vector<double>{3, 1}, b);
}

TEST(Histograms, DistancesOnPaper) {
  EXPECT_NEAR(distance(HistogramDistance::euclid, {30, 10}), 28.460, 5e-4);
  EXPECT_NEAR(distance(HistogramDistance::normalised, {30, 10}), 0.0, 1e-12);
  EXPECT_NEAR(distance(HistogramDistance::bhattacharyya, {30, 10}), 0.0, 1e-12);
  EXPECT_NEAR(distance(HistogramDistance::euclid, {1, 3}), 2.828, 5e-4);
  EXPECT_NEAR(distance(HistogramDistance::normalised, {1, 3}), 0.7071, 5e-5);
  EXPECT_NEAR(distance(HistogramDistance::bhattacharyya, {1, 3}), 0.1438, 5e-5);
}

TEST(Histograms, NearestMeanOfAClass) {
  NearestHistogram nearest(HistogramDistance::normalised, 3, 2);
  nearest.add(std::vector<double>{30, 10}, 0);
  nearest.add(std::vector<double>{1, 3}, 1);
  nearest.add(std::vector<double>{2, 2}, 1);
  const std::vector<double> distances = nearest.distances(std::vector<double>{3, 5});
  EXPECT_NEAR(distances[0], 0.375 * std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(distances[1], 0.0, 1e-12);
  EXPECT_TRUE(std::isinf(distances[2])) << "a class without a histogram";
}

}  // namespace
}  // namespace bntt
