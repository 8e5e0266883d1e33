#include "bench/parallelism.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "base/threads.h"
#include "bench/density.h"
#include "bench/our_engine.h"
#include "bench/worker_process.h"

namespace bntt::bench {
namespace {

/// Loops by the phase that they belong to.
using Loops = std::map<StageClock::Place, std::vector<LoopSeconds>>;

double sum(const LoopSeconds& seconds) {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

double longest(const LoopSeconds& seconds) {
  return seconds.empty() ? 0.0 : *std::ranges::max_element(seconds);
}

struct Measured {
  Loops loops;
  double whole = std::numeric_limits<double>::infinity();
  StageSeconds stages;
};

Measured fastest_unit(OurEngine& engine, int64_t repeats) {
  Measured fastest;
  for (int64_t i = 0; i < repeats; ++i) {
    Loops loops;
    {
      const WorkItemClock clock([&](std::span<const double> seconds) {
        loops[StageClock::place()].emplace_back(seconds.begin(), seconds.end());
      });
      engine.run_unit();
    }
    if (engine.seconds() < fastest.whole) {
      fastest = {std::move(loops), engine.seconds(), engine.stage_seconds()};
    }
  }
  return fastest;
}

}  // namespace

bool PhaseParallelism::divides_well() const {
  constexpr double kShort = 50e-6;
  constexpr int64_t kItems = 64;
  constexpr double kShare = 1.0 / 32.0;
  return seconds < kShort || (items >= kItems && longest_seconds <= kShare * seconds);
}

PhaseParallelism parallelism_of(const std::vector<LoopSeconds>& loops, double seconds) {
  PhaseParallelism result{.seconds = seconds, .serial_seconds = seconds};
  double most = -1.0;
  for (const LoopSeconds& loop : loops) {
    const double all = sum(loop);
    result.serial_seconds -= all;
    result.longest_seconds = std::max(result.longest_seconds, longest(loop));
    if (all > most) {
      most = all;
      result.items = std::ssize(loop);
    }
  }
  result.serial_seconds = std::max(0.0, result.serial_seconds);
  for (std::size_t i = 0; i < kThreadCounts.size(); ++i) {
    double least = result.serial_seconds;
    for (const LoopSeconds& loop : loops) {
      least += std::max(longest(loop), sum(loop) / kThreadCounts[i]);
    }
    result.speedups[i] = least > 0.0 ? seconds / least : 1.0;
  }
  return result;
}

Parallelism measure_parallelism(const ParallelismOptions& options) {
  WorkloadOptions workload_options = options.workload;
  workload_options.images = images_per_unit(options.kind, options.batch);
  set_threads(0);
  Workload workload = make_workload(workload_options);
  DensityFinder finder(workload, options.kind, workload_options.images);
  if (finder.scales()) finder.reach(options.density);
  const SharedFile network(pack_network(workload));
  const SharedFile images(pack_images(workload));
  const auto path = [](const SharedFile& file) {
    return fmt::format("/proc/self/fd/{}", file.descriptor());
  };
  // Some loops are divided by the number of threads.
  OurEngine engine({.kind = options.kind,
                    .batch = options.batch,
                    .threads = kThreadCounts.back(),
                    .network = path(network),
                    .images = path(images),
                    .precision = options.precision});
  const Measured measured = fastest_unit(engine, 1 + options.repeats);
  set_threads(0);

  Parallelism result;
  double outside = measured.whole;
  std::vector<LoopSeconds> all;
  const auto add = [&](const StageClock::Place& place, const char* phase, double seconds) {
    const auto found = measured.loops.find(place);
    const std::vector<LoopSeconds> loops =
        found == measured.loops.end() ? std::vector<LoopSeconds>{} : found->second;
    result.phases.push_back(parallelism_of(loops, seconds));
    result.phases.back().stage = place.stage;
    result.phases.back().phase = phase;
    all.insert(all.end(), loops.begin(), loops.end());
    outside -= seconds;
  };
  for (const StagePlan& plan : workload.network.stages()) {
    const auto found = measured.stages.find(plan.name);
    if (found == measured.stages.end()) continue;
    for (std::size_t phase = 0; phase < kStagePhases; ++phase) {
      const double seconds = found->second[phase];
      const auto kind = static_cast<StagePhase>(phase);
      if (seconds > 0.0) add({plan.name, kind}, phase_name(kind), seconds);
    }
  }
  add({}, "encoding, loss and optimiser", std::max(0.0, outside));
  result.whole = parallelism_of(all, measured.whole);
  return result;
}

}  // namespace bntt::bench
