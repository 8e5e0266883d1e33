#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyse/run.h"
#include "bntt/network.h"

namespace bntt {

/// Equal bins from `low` to `high`; values outside are counted in the first and last bin.
struct Histogram {
  double low = 0.0;
  double high = 1.0;
  std::vector<int64_t> counts;  ///< [bin]
};

/// The membrane potential that is compared with the threshold, over images, neurons and active
/// steps.
struct MembraneStatistics {
  double mean = 0.0;
  double deviation = 0.0;
  Histogram histogram;
};

/// How often a neuron with the effective threshold behaves like the real one, as fractions of
/// neuron-steps with γ > 0.
struct ThresholdAgreement {
  double same = 0.0;            ///< both fire or neither does
  double recall = 0.0;          ///< share of the real spikes that it fires too; 0 without spikes
  double precision = 0.0;       ///< share of its spikes that are real; 0 without spikes
  double predicted_rate = 0.0;  ///< its spikes per neuron-step
};

/// The paper's Section 3.3: compares the real neuron with one without norm and with the threshold
/// θ̃ = √(σ² + ε)/γ · θ that receives the real currents and runs freely with its own resets.
struct EffectiveThreshold {
  double positive_gains = 0.0;    ///< share of channel-steps with γ > 0, for which θ̃ is defined
  double spikes_elsewhere = 0.0;  ///< share of real spikes at channel-steps with γ <= 0
  double real_rate = 0.0;         ///< real spikes per neuron-step with γ > 0
  std::vector<double> median;  ///< [active step]: θ̃ over channels with γ > 0; 0 if there are none
  ThresholdAgreement paper;    ///< μ neglected, as in the paper
  ThresholdAgreement with_mean;  ///< ũ integrates x − μ: assumes only that γ and σ change slowly
};

struct StageActivity {
  std::string name;
  int64_t neurons = 0;
  int64_t first_step = 0;
  int64_t active_steps = 0;
  std::vector<double> spikes_per_step;      ///< [step of the run], per image (Fig. 1)
  double spike_rate = 0.0;                  ///< per neuron over all steps (Fig. 4a)
  double density = 0.0;                     ///< per neuron and active step
  std::vector<double> gamma_mean;           ///< [step], or one for all; empty without γ (Fig. 3)
  std::vector<double> gamma_magnitude;      ///< mean |γ|, likewise
  std::vector<Histogram> gamma_histograms;  ///< [step], or one for all; common bins (Fig. 5)
  std::optional<MembraneStatistics> membrane;
  std::optional<EffectiveThreshold> effective_threshold;  ///< of stages with running statistics
};

struct ActivityStudy {
  int64_t images = 0;
  int64_t detail_images = 0;  ///< for membranes and effective thresholds
  int64_t steps = 0;
  double accuracy = 0.0;
  double spikes_per_image = 0.0;
  std::vector<double> input_spikes_per_step;  ///< per image; empty for real-valued input
  double exit_threshold = 0.0;                ///< of the exit region of Fig. 3
  std::optional<int64_t> exit_step;           ///< absent without γ per step
  std::vector<StageActivity> stages;          ///< hidden stages, and a readout that has γ
};

struct ActivityOptions {
  double exit_threshold = 0.1;
  int64_t bins = 40;
  int64_t detail_images = 64;  ///< 0: no membranes, no effective thresholds
  std::function<bool(int64_t images)> progress;
};

/// γ of a stage, which must have one: a histogram for each step, or one for all; common bins.
/// Values that are not finite, in a run that diverged, are not counted.
std::vector<Histogram> gain_histograms(const Network& network, std::size_t stage, int64_t bins);

/// Throws Error for an ANN. Does not change the network's numbers.
ActivityStudy study_activity(Network& network, const Sample& sample,
                             const ActivityOptions& options = {});

}  // namespace bntt
