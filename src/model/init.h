#pragma once

#include "base/random.h"
#include "bntt/declaration.h"
#include "bntt/network_spec.h"

namespace bntt {

/// What a parameter starts with: a constant, or draws that depend on (seed, place) alone.
Buffer<float> first_values(const ParameterDeclaration& declared, Init init, uint64_t seed,
                           const Place& place);

}  // namespace bntt
