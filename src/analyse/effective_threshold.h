#pragma once

#include "analyse/activity.h"
#include "bntt/network.h"
#include "kernels/dynamics.h"

namespace bntt {

/// Recomputes the membranes of one hidden stage from the currents of traces, and runs a neuron with
/// the effective threshold beside each. Traces are added batch by batch.
class StageReplay {
 public:
  StageReplay(const Network& network, std::size_t stage, int64_t bins);

  void add(const StageTrace& trace, int64_t batch);

  MembraneStatistics membrane() const;
  /// Empty for norms without running statistics, which have no fixed σ, and for stages with several
  /// branches, which have no single σ.
  std::optional<EffectiveThreshold> effective_threshold() const;

 private:
  struct Agreement {
    int64_t both_fire = 0;
    int64_t predicted = 0;
    int64_t same = 0;
  };
  /// Sums of one image; images are added in order.
  struct Sums {
    double membrane = 0.0;
    double squared = 0.0;
    int64_t samples = 0;
    std::vector<int64_t> histogram;
    int64_t positive_samples = 0;  // with γ > 0
    int64_t positive_spikes = 0;
    int64_t other_spikes = 0;
    Agreement paper;
    Agreement with_mean;
  };
  Sums replay(const StageTrace& trace, int64_t batch, int64_t image) const;
  void add(const Sums& sums);
  ThresholdAgreement shares(const Agreement& agreement) const;

  const StagePlan& plan_;
  kernels::Dynamics dynamics_;
  std::vector<float> units_;  // of the first branch's currents, [channel]; empty: 1
  bool fixed_statistics_ = false;
  double low_ = 0.0;
  double high_ = 0.0;
  Sums sums_;
  std::vector<double> median_;  // [active step]
};

}  // namespace bntt
