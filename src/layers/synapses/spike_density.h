#pragma once

#include "bntt/signal.h"
#include "kernels/unpack.h"

namespace bntt {

/// Spikes that a synapse meets per place of its pooled input: above 1 is possible behind a pool and
/// with several planes. Work by walking is in proportion to it.
double spike_density(const SpikeTrain& spikes, const kernels::PooledMap& map, int64_t frame);
/// Over all frames.
double spike_density(const SpikeTrain& spikes, const kernels::PooledMap& map);

}  // namespace bntt
