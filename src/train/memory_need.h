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

/// The same for an evaluation: parameters, the encoded input, the spikes and membranes of all
/// stages, and the currents of the largest one.
int64_t evaluation_bytes(const NetworkSpec& spec, int64_t batch);

/// Samples of a data set while they are read, into a buffer that doubles when it is full: up to
/// twice their size, and the half that is being copied.
int64_t reading_bytes(int64_t samples, int64_t bytes_per_sample);

/// "3.2 GB", "640 MB".
std::string bytes_text(int64_t bytes);

}  // namespace bntt
