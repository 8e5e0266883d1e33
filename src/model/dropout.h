#pragma once

#include "bntt/network.h"

namespace bntt {

/// Which outputs of stage number `index` are kept: a pure function of (seed, epoch, sample, stage,
/// position), and of the step if the spec says so; otherwise one step stands for all.
SpikeTrain kept_outputs(const StagePlan& plan, int64_t index, const DropoutDraws& draws);

/// The output after dropout, times 1/(1 − p). For spikes, bits are cleared and the factor becomes
/// the weight of their plane, which the next synapse applies.
Signal dropped(const Signal& output, const SpikeTrain& kept, float probability);

/// Turns the gradient after dropout into that before it, in place: [step, batch, y, x, channel].
void drop_gradient(const SpikeTrain& kept, float probability, Buffer<float>& gradient);

}  // namespace bntt
