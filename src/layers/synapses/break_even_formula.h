#pragma once

#include <string_view>

#include "bntt/break_even.h"
#include "bntt/network_spec.h"

namespace bntt {

/// The break-even of a synapse computed from its shape and the kernel set alone: close to what
/// measure_break_even would find, and the same number on every machine. For synapses whose way
/// depends on the density.
BreakEven break_even_by_formula(const BranchPlan& plan, std::string_view kernel_set);

}  // namespace bntt
