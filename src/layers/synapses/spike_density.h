#pragma once

#include "bntt/signal.h"
#include "kernels/unpack.h"

namespace bntt {

/// Spikes per position of the synapse's pooled input. It may exceed 1 after a pool and with several
/// planes. The work of a walk is proportional to it.
double spike_density(const SpikeTrain& spikes, const kernels::PooledMap& map, int64_t frame);
/// The same over all frames.
double spike_density(const SpikeTrain& spikes, const kernels::PooledMap& map);

}  // namespace bntt
