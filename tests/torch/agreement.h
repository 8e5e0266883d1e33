#pragma once

#include "cases.h"

namespace bntt {

/// A network of this spec, with numbers off their start, agrees with the oracle in every current,
/// spike, statistic and gradient: once with every convolution of spikes walked, once with every one
/// dense.
void expect_agreement(const NetworkSpec& spec, Encoding encoding, NormMode mode);
void expect_agreement_in_both_modes(const NetworkSpec& spec,
                                    Encoding encoding = Encoding::signed_spikes);

}  // namespace bntt
