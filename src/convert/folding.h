#pragma once

#include <string>

#include "bntt/network.h"

namespace bntt {

/// Throws Error, beginning with `origin`, that names the first stage which no rule of conversion
/// covers, and says why.
void expect_convertible(const Network& network, const std::string& origin);

/// The ANN as it answers in evaluation, with norms folded into weights and biases:
///   W' = γ W/√(σ² + ε),  b' = β + (b − μ) γ/√(σ² + ε).
/// A stage has a bias where one of its b' is not 0. Dropout, which evaluation does not know, is
/// gone. The network must be convertible.
Network without_norms(const Network& ann);

}  // namespace bntt
