#pragma once

#include "base/random.h"
#include "bntt/declaration.h"
#include "bntt/network_spec.h"

namespace bntt {

/// The initial values of a parameter: a constant, or draws that depend only on (seed, place).
Buffer<float> first_values(const ParameterDeclaration& declared, Init init, uint64_t seed,
                           const Place& place);

}  // namespace bntt
