#pragma once

#include "base/json.h"
#include "bntt/network.h"

namespace bntt {

/// γ of every stage that has it, read from a checkpoint without running an image: [{name, channels,
/// shared, first_step, active_steps, mean, histogram: {low, high, counts}}]. Steps that cannot
/// reach the readout have a null mean.
Json gamma_document(const Network& network);

}  // namespace bntt
