#pragma once

#include "experiment/measure.h"
#include "experiment/plan.h"

namespace bntt {

/// Multiply-adds as if every neuron spiked at every step: the cost of a run or a measurement, for
/// estimates of time, as far as it is known without the data.
double making_work(const PlannedRun& run);
double measuring_work(const PlannedRun& run, const Measure& measure);

/// Multiply-adds per second and core, observed on two cores with AVX-512 for networks of this kind:
/// an initial guess until something has been timed.
inline constexpr double kGuessedSpeedOfACore = 6e10;

}  // namespace bntt
