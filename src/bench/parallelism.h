#pragma once

#include <array>
#include <string>
#include <vector>

#include "bench/job.h"
#include "bench/workload.h"

namespace bntt::bench {

inline constexpr std::array<int, 4> kThreadCounts = {8, 16, 32, 64};

/// How far the work of a phase can be divided. A phase is one parallel loop after the other, each
/// over independent items, with serial work between them. All times are of one thread.
struct PhaseParallelism {
  std::string stage;  ///< empty: outside the stages
  std::string phase;
  double seconds = 0.0;
  double serial_seconds = 0.0;   ///< outside the loops
  int64_t items = 0;             ///< of the loop that takes longest
  double longest_seconds = 0.0;  ///< of an item
  /// With kThreadCounts threads, at most: a loop takes at least as long as its longest item, and as
  /// its share of the work.
  std::array<double, kThreadCounts.size()> speedups{};

  /// The rule of docs/scale.md: 64 items, none longer than 1/32 of the phase, unless it is short.
  bool divides_well() const;
};

struct Parallelism {
  std::vector<PhaseParallelism> phases;  ///< that take time
  PhaseParallelism whole;
};

struct ParallelismOptions {
  Kind kind = Kind::train;
  WorkloadOptions workload;
  int64_t batch = 32;
  double density = 0.1;
  Precision precision = Precision::mixed;
  int64_t repeats = 2;
};

/// Runs the work on one thread and times every item; of the repeats the fastest counts.
Parallelism measure_parallelism(const ParallelismOptions& options);

/// The seconds of each item of a loop.
using LoopSeconds = std::vector<double>;
/// `seconds` is the time of the whole phase.
PhaseParallelism parallelism_of(const std::vector<LoopSeconds>& loops, double seconds);

}  // namespace bntt::bench
