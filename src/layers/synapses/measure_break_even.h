#pragma once

#include <optional>

#include "bntt/break_even.h"
#include "bntt/network_spec.h"

namespace bntt {

/// Times the spike walk of a synapse and its fastest dense way on this machine, at two densities,
/// and returns the density at which they take equal time; empty for synapses whose way does not
/// depend on the density.
std::optional<BreakEven> measure_break_even(const BranchPlan& plan);

/// Whether spikes can be processed both by a walk and by a dense way.
bool depends_on_density(const BranchPlan& plan);

/// Incremented when one of the two ways becomes faster, which invalidates earlier measurements.
inline constexpr int kBreakEvenRevision = 2;

}  // namespace bntt
