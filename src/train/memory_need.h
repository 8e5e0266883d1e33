#pragma once

#include <cstdint>
#include <string>

#include "bntt/network_spec.h"
#include "bntt/precision.h"

namespace bntt {

/// An estimate of what one training step holds at once, in bytes: of every parameter its value,
/// gradient and momentum; of every neuron-step its current (4 bytes, or 2 in mixed precision) and
/// its spike; and while a stage works, its current and the gradient of it as floats.
int64_t training_bytes(const NetworkSpec& spec, int64_t batch, Precision precision);

/// Of an evaluation: parameters, and the currents and membranes of the largest stage.
int64_t evaluation_bytes(const NetworkSpec& spec, int64_t batch);

/// "3.2 GB", "640 MB".
std::string bytes_text(int64_t bytes);

}  // namespace bntt
