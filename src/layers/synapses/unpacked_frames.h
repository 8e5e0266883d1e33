#pragma once

#include "bntt/network_spec.h"
#include "bntt/signal.h"
#include "kernels/unpack.h"

namespace bntt {

/// The map that the branch's synapse reads. After a max pool, that is the pooled map itself.
kernels::PooledMap pool_of(const BranchPlan& plan);

/// Writes frames [first, first + count) of the signal as pooled floats [frame, y, x, channel];
/// frames past the signal's end become zero, so that every chunk has the size for which its
/// primitive was created.
void unpack_frames(const Signal& signal, const kernels::PooledMap& map, int64_t first,
                   int64_t count, float* dense);

}  // namespace bntt
