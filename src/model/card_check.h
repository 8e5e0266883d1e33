#pragma once

#include "bntt/model.h"

namespace bntt {

// Both throw Error.
void expect_input_fits(const InputSpec& input, const NetworkSpec& spec);
void expect_card_fits(const ModelCard& card, const NetworkSpec& spec);

}  // namespace bntt
