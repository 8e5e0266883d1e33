#include "layers/measure_break_even.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

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

/// The best of a few runs: other work on the machine only ever adds.
template <typename Work>
double seconds_of(const Work& work) {
  double best = std::numeric_limits<double>::max();
  for (int run = 0; run < 4; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    best = std::min(best, passed.count());
  }
  return best;
}

struct Timed {
  double density;
  double seconds;
};

/// Where the line through two timings of the walk reaches the dense time. Rounded, so that a table
/// of them reads well; within [0.01, 4], as densities behind a 2x2 pool go up to 4.
float meeting_point(const Timed& sparse, const Timed& denser, double dense_seconds) {
  const double slope =
      std::max((denser.seconds - sparse.seconds) / (denser.density - sparse.density), 1e-12);
  const double density = sparse.density + (dense_seconds - sparse.seconds) / slope;
  return static_cast<float>(std::round(std::clamp(density, 0.01, 4.0) * 1000.0) / 1000.0);
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
  std::vector<int64_t> first_chunk(static_cast<std::size_t>(chunk));
  std::iota(first_chunk.begin(), first_chunk.end(), 0);

  Timed forward[2];
  Timed backward[2];
  double dense_forward = 0.0;
  double dense_backward = 0.0;
  for (int i = 0; i < 2; ++i) {
    const Signal signal = random_spikes(plan, frames, kDensities[i]);
    const auto& spikes = std::get<SpikeTrain>(signal);
    const double density = spike_density(spikes, pool_of(plan));
    const Buffer<float> for_walk = walk.pack(weights.data());
    forward[i] = {density, seconds_of([&] {
                    walk.forward(spikes, 0, chunk, chunk, for_walk.data(), current.data());
                  })};
    backward[i] = {density, seconds_of([&] {
                     walk.weight_gradient(spikes, current.data(), gradient.data());
                   })};
    if (i > 0) continue;
    const Buffer<float> for_winograd = winograd.pack(weights.data());
    dense_forward = seconds_of(
        [&] { winograd.forward(signal, first_chunk, for_winograd.data(), current.data()); });
    dense_backward =
        seconds_of([&] { winograd.weight_gradient(signal, current.data(), gradient.data()); });
  }
  return BreakEven{.forward = meeting_point(forward[0], forward[1], dense_forward),
                   .weight_gradient = meeting_point(backward[0], backward[1], dense_backward)};
}

}  // namespace bntt
