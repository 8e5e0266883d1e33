#pragma once

#include "experiment/measure.h"
#include "experiment/plan.h"

namespace bntt {

/// Multiply-adds, as if no spike were missing: what a run or a measurement costs, for estimates of
/// time. As far as it is known without the data.
double making_work(const PlannedRun& run);
double measuring_work(const PlannedRun& run, const Measure& measure);

/// Multiply-adds per second that two cores with AVX-512 were seen to do on networks of this kind,
/// for each core: a first guess, until something has been timed.
inline constexpr double kGuessedSpeedOfACore = 6e10;

}  // namespace bntt
