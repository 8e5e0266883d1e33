#pragma once

#include "kernels/kernel_set.h"

namespace bntt::kernels {

/// Each function sets its kernels for the instruction set that Highway has chosen.
void set_neuron_kernels(KernelSet& set);
void set_lee_kernels(KernelSet& set);
void set_spike_kernels(KernelSet& set);
void set_spike_convolution_kernels(KernelSet& set);
void set_integer_kernels(KernelSet& set);
void set_winograd_kernels(KernelSet& set);

}  // namespace bntt::kernels
