#pragma once

#include <cstdint>
#include <vector>

#include "classical/features.h"
#include "classical/gabor_bank.h"
#include "data/sensor_size.h"

namespace bntt {

struct GaborSnnOptions {
  double tau_us = 10'000;         ///< of the membrane
  double threshold = 150;         ///< a neuron fires at this voltage or above
  int64_t refractory_us = 5'000;  ///< time after a spike during which input is ignored
  int64_t cell = 8;               ///< side of the square whose spikes are summed
  bool operator==(const GaborSnnOptions&) const = default;
};

/// A spiking network with fixed Gabor filters, since the one that the HATS paper compares with was
/// never published in detail: leaky neurons V <- V exp(-Δt/τ) + w after the filters of each
/// polarity, whose spikes are counted by polarity, orientation and cell.
class GaborSnn {
 public:
  static constexpr int64_t kPolarities = 2;

  GaborSnn(const SensorSize& sensor, const GaborSnnOptions& options);

  int64_t columns() const { return columns_; }
  int64_t rows() const { return rows_; }
  int64_t features() const;

  /// Spikes [cell y, cell x, polarity, orientation]; events must be in order of time.
  std::vector<double> spike_counts(const std::vector<Event>& events) const;

  /// The spike counts, scaled to length 1.
  SparseFeatures extract(const Recording& recording) const;

  const GaborBank& bank() const { return bank_; }

 private:
  SensorSize sensor_;
  GaborSnnOptions options_;
  GaborBank bank_;
  int64_t columns_;
  int64_t rows_;
};

}  // namespace bntt
