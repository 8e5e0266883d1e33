#include "layers/measure_break_even.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "layers/conv_walk.h"
#include "layers/conv_winograd.h"
#include "layers/spike_density.h"
#include "layers/unpacked_frames.h"

namespace bntt {
namespace {

constexpr float kDensities[] = {0.05F, 0.25F};
constexpr int64_t kChunks = 8;  // enough that clearing and adding parts does not count

SpikeTrain random_spikes(const StagePlan& plan, int64_t frames, float density) {
  SpikeTrain spikes(1, frames, plan.source);
  for (int64_t image = 0; image < frames; ++image) {
    for (int64_t i = 0; i < plan.source.size(); ++i) {
      const auto bits =
          draw4(1, Purpose::calibration,
                {.sample = static_cast<uint32_t>(image), .block = static_cast<uint32_t>(i / 4)});
      if (uniform01(bits[i % 4]) >= density) continue;
      const int64_t pixel = i / plan.source.channels;
      spikes.set(0, 0, image, pixel / plan.source.width, pixel % plan.source.width,
                 i % plan.source.channels);
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

struct Timed {
  double density;
  double seconds;
};

/// Where the line through two timings of the walk reaches the dense time; within [0.01, 4], as
/// densities behind a 2x2 pool go up to 4.
double meeting_point(const Timed& sparse, const Timed& denser, double dense_seconds) {
  const double slope =
      std::max((denser.seconds - sparse.seconds) / (denser.density - sparse.density), 1e-12);
  return std::clamp(sparse.density + (dense_seconds - sparse.seconds) / slope, 0.01, 4.0);
}

/// The median of a few rounds, each of which times all three: a slow moment of the machine meets
/// all of a round or spoils it alone. Rounded, so that a table of them reads well.
template <typename Walk, typename Dense>
float meeting_point_of(const double (&densities)[2], const Walk& walk, const Dense& dense) {
  constexpr int kRounds = 9;
  std::vector<double> points;
  for (int round = 0; round <= kRounds; ++round) {
    const Timed sparse{densities[0], seconds_of([&] { walk(0); })};
    const Timed denser{densities[1], seconds_of([&] { walk(1); })};
    const double point = meeting_point(sparse, denser, seconds_of(dense));
    if (round > 0) points.push_back(point);  // the first one warms up
  }
  std::ranges::nth_element(points, points.begin() + kRounds / 2);
  return static_cast<float>(std::round(points[kRounds / 2] * 1000.0) / 1000.0);
}

}  // namespace

std::optional<BreakEven> measure_break_even(const StagePlan& plan) {
  if (plan.synapse != SynapseKind::conv3x3 || !ConvWinograd::suits(plan)) return std::nullopt;
  const ConvWalk walk(plan);
  const ConvWinograd winograd(plan);
  const int64_t chunk = winograd.frames_per_chunk();
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
  const auto spikes = [&](int i) -> const SpikeTrain& { return std::get<SpikeTrain>(signals[i]); };
  const double densities[2] = {spike_density(spikes(0), pool_of(plan)),
                               spike_density(spikes(1), pool_of(plan))};
  const Buffer<float> for_walk = walk.pack(weights.data());
  const Buffer<float> for_winograd = winograd.pack(weights.data());
  return BreakEven{
      .forward = meeting_point_of(
          densities,
          [&](int i) {
            write_frames(*walk.rows(spikes(i), 0, chunk, for_walk.data()), plan.output,
                         walk.block_channels(), 0, chunk, place);
          },
          [&] { winograd.forward(signals[0], first_chunk, for_winograd.data(), place); }),
      .weight_gradient = meeting_point_of(
          densities,
          [&](int i) { walk.weight_gradient(spikes(i), current.data(), gradient.data()); },
          [&] { winograd.weight_gradient(signals[0], current.data(), gradient.data()); })};
}

}  // namespace bntt
