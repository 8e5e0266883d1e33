#include "layers/synapses/measure_break_even.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "layers/synapses/prepared_weights.h"
#include "layers/synapses/spike_density.h"
#include "layers/synapses/synapse.h"
#include "layers/synapses/unpacked_frames.h"

namespace bntt {
namespace {

constexpr float kDensities[] = {0.05F, 0.25F};
constexpr int64_t kChunks = 8;  // enough to make clearing and adding parts negligible

SpikeTrain random_spikes(const BranchPlan& plan, int64_t frames, float density) {
  const MapShape& source = pool_of(plan).source;
  SpikeTrain spikes(1, frames, source);
  for (int64_t image = 0; image < frames; ++image) {
    for (int64_t i = 0; i < source.size(); ++i) {
      const auto bits =
          draw4(1, Purpose::calibration,
                {.sample = static_cast<uint32_t>(image), .block = static_cast<uint32_t>(i / 4)});
      if (uniform01(bits[i % 4]) >= density) continue;
      const int64_t pixel = i / source.channels;
      spikes.set(0, 0, image, pixel / source.width, pixel % source.width, i % source.channels);
    }
  }
  return spikes;
}

template <typename Work>
double seconds_of(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct WalkTiming {
  double density;
  double seconds;
};

/// The density at which the line through two timings of the walk reaches the dense time; within
/// [0.01, 4], since densities after a 2x2 pool go up to 4.
double meeting_point(const WalkTiming& sparse, const WalkTiming& denser, double dense_seconds) {
  const double slope =
      std::max((denser.seconds - sparse.seconds) / (denser.density - sparse.density), 1e-12);
  return std::clamp(sparse.density + (dense_seconds - sparse.seconds) / slope, 0.01, 4.0);
}

/// Each variant is timed once per round, and its fastest round counts, because a busy machine can
/// only add time. Rounded to keep tables of break-evens readable.
template <typename Walk, typename Dense>
float meeting_point_of(const double (&densities)[2], const Walk& walk, const Dense& dense) {
  constexpr int kRounds = 10;
  constexpr double kNever = std::numeric_limits<double>::infinity();
  WalkTiming sparse{densities[0], kNever};
  WalkTiming denser{densities[1], kNever};
  double dense_seconds = kNever;
  for (int round = 0; round < kRounds; ++round) {
    sparse.seconds = std::min(sparse.seconds, seconds_of([&] { walk(0); }));
    denser.seconds = std::min(denser.seconds, seconds_of([&] { walk(1); }));
    dense_seconds = std::min(dense_seconds, seconds_of(dense));
  }
  const double point = meeting_point(sparse, denser, dense_seconds);
  return static_cast<float>(std::round(point * 1000.0) / 1000.0);
}

}  // namespace

bool depends_on_density(const BranchPlan& plan) {
  const Synapse synapse(plan);
  const InputKind kind{.planes = 1};
  return &synapse.way_for(SynapseOperation::forward, kind, 0.0) !=
         &synapse.way_for(SynapseOperation::forward, kind, std::numeric_limits<double>::max());
}

std::optional<BreakEven> measure_break_even(const BranchPlan& plan) {
  const Synapse synapse(plan);
  const InputKind kind{.planes = 1};
  const auto way_at = [&](SynapseOperation operation, double density) -> const SynapseWay& {
    return synapse.way_for(operation, kind, density);
  };
  constexpr double kStorm = std::numeric_limits<double>::max();
  const SynapseWay& walk = way_at(SynapseOperation::forward, 0.0);
  const SynapseWay& dense = way_at(SynapseOperation::forward, kStorm);
  if (&walk == &dense) return std::nullopt;
  const SynapseWay& gradient_walk = way_at(SynapseOperation::weight_gradient, 0.0);
  const SynapseWay& gradient_dense = way_at(SynapseOperation::weight_gradient, kStorm);

  const int64_t chunk = dense.frames_together();
  const int64_t frames = kChunks * chunk;
  Buffer<float> weights(plan.weights);
  weights.fill(0.01F);
  Buffer<float> current(frames * plan.output.size());
  current.fill(0.5F);
  Buffer<float> gradient(plan.weights);
  const FramePlace place{current.data(), 0, plan.output.size()};
  std::vector<int64_t> first_chunk(static_cast<std::size_t>(chunk));
  std::iota(first_chunk.begin(), first_chunk.end(), 0);

  const Signal signals[2] = {random_spikes(plan, frames, kDensities[0]),
                             random_spikes(plan, frames, kDensities[1])};
  const auto density = [&](int i) {
    return spike_density(std::get<SpikeTrain>(signals[i]), pool_of(plan));
  };
  const double densities[2] = {density(0), density(1)};
  const PreparedWeights prepared(weights.data());
  const WayWeights for_walk = prepared.of(walk, signals[0]);
  const WayWeights for_dense = prepared.of(dense, signals[0]);
  return BreakEven{
      .forward = meeting_point_of(
          densities, [&](int i) { walk.forward(signals[i], first_chunk, for_walk, place); },
          [&] { dense.forward(signals[0], first_chunk, for_dense, place); }),
      .weight_gradient = meeting_point_of(
          densities,
          [&](int i) {
            gradient_walk.weight_gradient(signals[i], {current.data()}, gradient.data());
          },
          [&] { gradient_dense.weight_gradient(signals[0], {current.data()}, gradient.data()); })};
}

}  // namespace bntt
