#pragma once

#include <string_view>

#include "bntt/break_even.h"
#include "bntt/network_spec.h"

namespace bntt {

/// The break-even of a synapse computed from its shape and the kernel set alone: close to what
/// measure_break_even would find, and the same number on every machine. For synapses whose way
/// depends on the density.
BreakEven break_even_by_formula(const BranchPlan& plan, std::string_view kernel_set);

/// Time of a dense convolution in bf16 relative to fp32, and therefore the factor on its
/// break-even: an estimate from products that are 1.8 times as fast and transforms that are not.
/// The number is the same for every processor, with or without an instruction for bf16, because the
/// choice between a walk and a dense convolution affects bits.
inline constexpr double kBf16DenseCost = 0.6;

}  // namespace bntt
