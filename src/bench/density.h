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

/// Brings a network to a wanted density by one factor on all γ. Stages without γ receive fewer or
/// more spikes from the others. The running statistics are recalibrated for every factor, so that
/// they match the γ in use.
class DensityFinder {
 public:
  /// `workload` must outlive the finder; `images` of it are used.
  DensityFinder(Workload& workload, Kind kind, int64_t images);

  /// Whether a hidden stage has γ. Without any, the network can only be timed at its own density.
  bool scales() const { return scales_; }

  /// Leaves the network at the density, in the form that is timed. Throws Error if no factor gets
  /// close to it. Only if scales().
  void reach(double wanted);

 private:
  double density_at(double factor);

  Workload& workload_;
  Kind kind_;
  Batch images_;
  std::vector<Buffer<float>> gains_;  // at factor 1
  double factor_ = 1.0;
  bool scales_ = false;
};

}  // namespace bntt::bench
