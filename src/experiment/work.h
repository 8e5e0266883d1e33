#pragma once

#include "experiment/measure.h"
#include "experiment/plan.h"

namespace bntt {

/// Multiply-adds as if every neuron spiked at every step: the cost of a run or a measurement, for
/// estimates of time, as far as it is known without the data.
double making_work(const PlannedRun& run);
double measuring_work(const PlannedRun& run, const Measure& measure);

/// Memory that training takes, about; of other runs 0.
int64_t making_bytes(const PlannedRun& run);

/// Kinds of runs whose speeds, in multiply-adds per second, differ.
enum class WorkKind {
  spiking,  ///< training of a spiking network
  ann,      ///< training of a network of one step: nothing is sparse, and each image is used once
  conversion,  ///< of an ANN
  classical,   ///< a method without a network
};
constexpr auto enum_names(WorkKind) {
  return std::array{std::pair{WorkKind::spiking, "spiking"}, std::pair{WorkKind::ann, "ann"},
                    std::pair{WorkKind::conversion, "conversion"},
                    std::pair{WorkKind::classical, "classical"}};
}
WorkKind work_kind(const PlannedRun& run);

/// Multiply-adds per second and core, observed on two cores with AVX-512: an initial guess until
/// something has been timed.
double guessed_speed_of_a_core(WorkKind kind);

}  // namespace bntt
