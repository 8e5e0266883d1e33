#pragma once

#include "bntt/network.h"

namespace bntt {

/// Which outputs of stage number `index` are kept: a pure function of (seed, epoch, sample, stage,
/// position), and of the step where the spec says so; otherwise one step stands for all.
SpikeTrain kept_outputs(const StagePlan& plan, int64_t index, const DropoutDraws& draws);

/// What is left of an output, times 1/(1 − p). Of spikes, bits are cleared, and the factor is the
/// weight of their plane: the next synapse sees to it.
Signal dropped(const Signal& output, const SpikeTrain& kept, float probability);

/// The gradient at the output before dropout, in place: [step, batch, y, x, channel].
void drop_gradient(const SpikeTrain& kept, float probability, Buffer<float>& gradient);

}  // namespace bntt
