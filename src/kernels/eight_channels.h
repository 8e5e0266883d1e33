#pragma once

#include "kernels/kernel_set.h"

namespace bntt::kernels {

/// Makes `set` use the neuron kernels of `narrower`, whose vectors have eight lanes, for rows of
/// exactly eight channels. All sets give the same bits. With AVX-512 such a row is half a vector,
/// loaded and stored with a mask, and a masked store keeps later loads of the lanes behind it
/// waiting: AVX2's kernels are 3 to 5 times as fast there (and slower for 4, 12 or 24 channels).
/// Only for one pair of sets.
void use_for_eight_channels(const KernelSet& narrower, KernelSet& set);

}  // namespace bntt::kernels
