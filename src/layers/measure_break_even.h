#pragma once

#include <optional>

#include "bntt/break_even.h"
#include "bntt/network_spec.h"

namespace bntt {

/// Times both ways of a stage's convolution on this machine, at two densities, and gives the
/// density where they meet; nothing for stages that have one way only.
std::optional<BreakEven> measure_break_even(const StagePlan& plan);

/// Goes up when one of the two ways becomes faster: what earlier programs measured no longer holds.
inline constexpr int kBreakEvenRevision = 2;

}  // namespace bntt
