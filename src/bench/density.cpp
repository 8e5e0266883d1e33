#include "bench/density.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "base/fail.h"
#include "kernels/unpack.h"

namespace bntt::bench {
namespace {

Density from_counts(const Network& network, const std::vector<int64_t>& spikes, int64_t frames) {
  Density density;
  int64_t all_spikes = 0;
  int64_t all_neurons = 0;
  for (std::size_t i = 0; i < spikes.size(); ++i) {
    const int64_t neurons = network.stages()[i].neurons;
    density.stages.push_back(neurons == 0 ? 0.0
                                          : static_cast<double>(spikes[i]) /
                                                static_cast<double>(neurons * frames));
    all_spikes += spikes[i];
    all_neurons += neurons;
  }
  density.mean = static_cast<double>(all_spikes) / static_cast<double>(all_neurons * frames);
  return density;
}

/// A point on the curve of log density over log factor. The search keeps one below and one above
/// the wanted density.
struct Point {
  double factor;
  double error;  // log density − log wanted
};

}  // namespace

Density density_of(const Network& network, const Trace& trace) {
  std::vector<int64_t> spikes;
  for (std::size_t i = 0; i < trace.stages.size(); ++i) {
    if (network.stages()[i].readout) continue;
    const auto* train = std::get_if<SpikeTrain>(&trace.stages[i].output);
    spikes.push_back(
        train == nullptr ? 0 : kernels::count_spikes(train->words().data(), train->words().size()));
  }
  return from_counts(network, spikes, signal_steps(trace.input) * signal_batch(trace.input));
}

Density density_of(const Network& network, const Activity& activity) {
  std::vector<int64_t> spikes;
  for (std::size_t i = 0; i < activity.spikes.size(); ++i) {
    if (network.stages()[i].readout) continue;
    spikes.push_back(
        std::accumulate(activity.spikes[i].begin(), activity.spikes[i].end(), int64_t{0}));
  }
  return from_counts(network, spikes, active_steps(network.spec()) * activity.images);
}

DensityFinder::DensityFinder(Workload& workload, Kind kind, int64_t images)
    : workload_(workload), kind_(kind), images_(slice(workload.images, 0, images)) {
  for (const Parameter& parameter : workload.network.parameters()) {
    gains_.push_back(parameter.group == ParameterGroup::gain ? parameter.value : Buffer<float>());
  }
  for (const StagePlan& plan : workload.network.stages()) {
    if (!plan.readout && plan.neuron.kind == "relu") {
      fail("bench: stage {} has ReLU neurons, expected spiking ones", plan.name);
    }
    scales_ = scales_ || (!plan.readout && plan.gains > 0);
  }
}

double DensityFinder::density_at(double factor) {
  Network& network = workload_.network;
  for (std::size_t i = 0; i < gains_.size(); ++i) {
    std::ranges::transform(gains_[i], network.parameters()[i].value.begin(),
                           [&](float gain) { return static_cast<float>(factor * gain); });
  }
  factor_ = factor;
  const Signal input =
      encode(images_, active_steps(network.spec()), workload_.encoder, kSeed, kEvaluationEpoch);
  const Density training = density_of(network, network.forward(input, NormMode::batch));
  if (kind_ == Kind::train) return training.mean;
  Activity activity;
  ChainState state = network.start(images_.size());
  network.advance(input, state, &activity);
  return density_of(network, activity).mean;
}

void DensityFinder::reach(double wanted) {
  BNTT_CHECK(scales_);
  constexpr double kNear = 0.01;
  constexpr double kTolerable = 0.1;
  constexpr int kTrials = 16;
  constexpr double kLargestStep = 4.0;
  std::optional<Point> below;
  std::optional<Point> above;
  Point nearest{.factor = factor_, .error = std::numeric_limits<double>::infinity()};
  double factor = factor_;
  for (int trial = 0; trial < kTrials; ++trial) {
    const double density = density_at(factor);
    const Point point{factor, std::log(std::max(density, 1e-6) / wanted)};
    if (std::abs(point.error) < std::abs(nearest.error)) nearest = point;
    if (std::abs(nearest.error) < kNear) return;
    (point.error < 0.0 ? below : above) = point;
    if (below && above) {
      const double share = std::clamp(-below->error / (above->error - below->error), 0.1, 0.9);
      factor = below->factor * std::pow(above->factor / below->factor, share);
    } else {
      // Density grows about as the 1.5th power of γ.
      factor *= std::clamp(std::exp(-point.error / 1.5), 1.0 / kLargestStep, kLargestStep);
    }
  }
  const double reached = wanted * std::exp(nearest.error);
  if (std::abs(nearest.error) > kTolerable) {
    fail("--density: {} cannot be reached by scaling gamma, the nearest was {:.4f}", wanted,
         reached);
  }
  density_at(nearest.factor);
}

}  // namespace bntt::bench
