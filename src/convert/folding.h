#pragma once

#include <string>

#include "bntt/network.h"

namespace bntt {

/// Throws an Error that begins with `origin`, names the first stage that no conversion rule covers,
/// and gives the reason.
void expect_convertible(const Network& network, const std::string& origin);

/// The ANN in evaluation, with norms folded into weights and biases:
///   W' = γ W/√(σ² + ε),  b' = β + (b − μ) γ/√(σ² + ε).
/// A stage has a bias if one of its b' is not 0. Dropout, which has no effect in evaluation, is
/// removed. The network must be convertible.
Network without_norms(const Network& ann);

}  // namespace bntt
