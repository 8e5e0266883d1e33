#pragma once

#include <cstddef>
#include <vector>

#include "bntt/break_even.h"

namespace bntt {

/// train.break_even of a run as one entry per synapse: forward and weight gradient for every one,
/// or one such pair for all. Throws Error for any other number of values.
std::vector<BreakEven> break_even_from(const std::vector<double>& values, std::size_t synapses);
std::vector<double> break_even_values(const std::vector<BreakEven>& synapses);

}  // namespace bntt
