#pragma once

#include <cstdint>
#include <vector>

#include "bench/job.h"
#include "bench/workload.h"

namespace bntt::bench {

/// Share of neuron-steps that fire.
struct Density {
  double mean = 0.0;           ///< over all neurons that spike
  std::vector<double> stages;  ///< of each hidden stage; 0 if it does not spike
};

Density density_of(const Network& network, const Trace& trace);
Density density_of(const Network& network, const Activity& activity);

/// Brings a network to a wanted density by one factor on all γ. The running statistics are
/// recalibrated for every factor, so that they match the γ in use.
class DensityFinder {
 public:
  /// `workload` must outlive the finder; `images` of it are used.
  DensityFinder(Workload& workload, Kind kind, int64_t images);

  /// Leaves the network at the density, in the form that is timed. Throws Error if no factor gets
  /// close to it.
  void reach(double wanted);

 private:
  double density_at(double factor);

  Workload& workload_;
  Kind kind_;
  Batch images_;
  std::vector<Buffer<float>> gains_;  // at factor 1
  double factor_ = 1.0;
};

}  // namespace bntt::bench
