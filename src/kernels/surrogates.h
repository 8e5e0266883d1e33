#pragma once

#include "bntt/enum_table.h"
#include "bntt/network_spec.h"

namespace bntt {

/// All surrogate slopes, with d = (v − θ)/width; Dynamics::spike_slope computes them.
inline constexpr auto kSurrogates = std::to_array<EnumEntry<SurrogateKind>>({
    {SurrogateKind::triangle, "triangle", "α max(0, 1 − |d|) (the paper's)"},
    {SurrogateKind::sigmoid, "sigmoid", "α 4 s (1 − s), s the logistic function of 4d"},
    {SurrogateKind::arctan, "arctan", "α / (1 + (πd)²)"},
    {SurrogateKind::rectangle, "rectangle", "α if |d| < 1/2, otherwise 0"},
    {SurrogateKind::stdb, "stdb",
     "α e^(−βΔt), Δt the steps since the neuron's previous spike, for every d"},
});

constexpr auto enum_names(SurrogateKind) { return value_names(kSurrogates); }

}  // namespace bntt
