#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "classical/gabor_bank.h"
#include "data/sensor_size.h"

namespace bntt {

/// As in the author's code for N-MNIST.
struct HfirstOptions {
  int64_t noise_us = 10'000;   ///< of the noise filter; 0: none
  int64_t s1_threshold = 150;  ///< millivolts; a neuron fires above it
  int64_t s1_leak = 25;        ///< millivolts per millisecond
  int64_t block = 4;           ///< side of the squares of S1 neurons that C1 pools
  double s2_threshold = 150;
  double s2_leak = 1;
  int64_t refractory_ms = 5;  ///< of all layers
  bool operator==(const HfirstOptions&) const = default;
};

struct OrientedSpike {
  int64_t time_ms = 0;
  int64_t x = 0;
  int64_t y = 0;
  int64_t orientation = 0;
  bool operator==(const OrientedSpike&) const = default;
};

/// Microseconds to the nearest millisecond.
int64_t milliseconds(int64_t time_us);

/// Neurons of twelve orientations at every pixel. The neurons of a pixel share the times of their
/// last update and last spike; a spike resets all of them.
class HfirstS1 {
 public:
  HfirstS1(const SensorSize& sensor, const HfirstOptions& options, const GaborBank& bank);

  /// Feeds an event and appends the spikes that it causes, pixel after pixel. If several neurons of
  /// a pixel are above the threshold, the highest fires, or the first of equals.
  void feed(int64_t x, int64_t y, int64_t time_ms, std::vector<OrientedSpike>& spikes);

  /// The voltage at the last update; 0 just after a spike.
  int64_t voltage(int64_t x, int64_t y, int64_t orientation) const;

 private:
  SensorSize sensor_;
  HfirstOptions options_;
  const GaborBank& bank_;
  std::vector<int32_t> voltage_;    // [y, x, orientation]
  std::vector<int64_t> update_ms_;  // [y, x]
  std::vector<int64_t> spike_ms_;
};

/// Passes the first spike of a block, and the next one after the refractory time.
class HfirstC1 {
 public:
  HfirstC1(const SensorSize& sensor, const HfirstOptions& options);

  int64_t columns() const { return columns_; }
  int64_t rows() const { return rows_; }
  bool pass(const OrientedSpike& spike);
  /// [block y, block x, orientation]
  int64_t index(const OrientedSpike& spike) const;
  int64_t size() const { return columns_ * rows_ * GaborBank::kOrientations; }

 private:
  HfirstOptions options_;
  int64_t columns_;
  int64_t rows_;
  std::vector<int64_t> spike_ms_;  // [block y, block x]
};

/// A spike of C1, given by its index.
struct BlockSpike {
  int64_t time_ms = 0;
  int64_t index = 0;
};

/// S1 and C1: noise filter, then ON and OFF events separately, then merged.
class HfirstFront {
 public:
  HfirstFront(const SensorSize& sensor, const HfirstOptions& options);

  int64_t columns() const { return columns_; }
  int64_t rows() const { return rows_; }
  int64_t features() const { return columns_ * rows_ * GaborBank::kOrientations; }
  std::vector<BlockSpike> spikes(const Recording& recording) const;
  const GaborBank& bank() const { return bank_; }

 private:
  SensorSize sensor_;
  HfirstOptions options_;
  GaborBank bank_;
  int64_t columns_;
  int64_t rows_;
};

/// The weights of a class from the spike counts of its training recordings: scaled to length 100,
/// -1 where there were no spikes.
std::vector<double> hfirst_weights(std::span<const int64_t> counts);

/// S2 and C2: one neuron per class, over the whole of C1.
class HfirstClassifier {
 public:
  /// weights[class][index]; weights below 1 count as -1.
  HfirstClassifier(std::vector<std::vector<double>> weights, const HfirstOptions& options);

  /// Spikes of each class.
  std::vector<int64_t> votes(std::span<const BlockSpike> spikes) const;

 private:
  std::vector<std::vector<double>> weights_;
  HfirstOptions options_;
};

/// The class with the most spikes, the first of equals; -1 if there are no spikes.
int64_t most_votes(std::span<const int64_t> votes);

}  // namespace bntt
