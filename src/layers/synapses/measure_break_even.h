#pragma once

#include <optional>

#include "bntt/break_even.h"
#include "bntt/network_spec.h"

namespace bntt {

/// Times the walk of a synapse's spikes and its fastest dense way on this machine, at two
/// densities, and gives the density where they meet; nothing for synapses whose way does not depend
/// on the density.
std::optional<BreakEven> measure_break_even(const BranchPlan& plan);

/// Whether there is a choice between a walk and a dense way of spikes.
bool depends_on_density(const BranchPlan& plan);

/// Goes up when one of the two ways becomes faster: what earlier programs measured no longer holds.
inline constexpr int kBreakEvenRevision = 2;

}  // namespace bntt
