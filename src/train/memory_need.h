#pragma once

#include <cstdint>
#include <string>

#include "bntt/network_spec.h"
#include "bntt/precision.h"

namespace bntt {

/// An estimate, in bytes, of what one training step holds at once: value, gradient and momentum of
/// every parameter; current (4 bytes, or 2 in mixed precision) and spike of every neuron-step; and
/// the current of the stage being computed and its gradient as floats.
int64_t training_bytes(const NetworkSpec& spec, int64_t batch, Precision precision);

/// The same for an evaluation: parameters, and the currents and membranes of the largest stage.
int64_t evaluation_bytes(const NetworkSpec& spec, int64_t batch);

/// "3.2 GB", "640 MB".
std::string bytes_text(int64_t bytes);

}  // namespace bntt
