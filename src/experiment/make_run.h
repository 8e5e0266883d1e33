#pragma once

#include <filesystem>

#include "experiment/measure.h"
#include "experiment/plan.h"

namespace bntt {

/// Converts the run of an ANN, as bntt convert does. Returns false if stopped; nothing is left
/// then.
bool make_conversion(const PlannedRun& run, const std::filesystem::path& ann,
                     const std::filesystem::path& out, const CacheOptions& cache,
                     const MeasureProgress& progress);

/// Runs a classical method on event recordings, as bntt classical does. Returns false if stopped.
bool make_classical(const PlannedRun& run, const std::filesystem::path& out,
                    const MeasureProgress& progress);

/// Whether a conversion or a classical run is complete.
bool is_made(const PlannedRun& run, const std::filesystem::path& directory);

/// The answers of a classical run, in the form that run_measure has for a network.
Json classical_answers(const std::filesystem::path& directory);

}  // namespace bntt
