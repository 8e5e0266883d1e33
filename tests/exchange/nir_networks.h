#pragma once

#include <string>
#include <vector>

#include "bntt/network.h"

namespace bntt::testing {

struct NirCase {
  std::string name;
  NetworkSpec spec;
};

/// Networks that NIR can say exactly, small: every kind of node that is exported occurs.
std::vector<NirCase> exact_nir_cases();

/// A network whose norms change from step to step: NIR has its means, the metadata every step.
NirCase stepwise_nir_case();

/// With drawn weights and running statistics far from 0 and 1.
Network filled_network(const NetworkSpec& spec, uint64_t seed = 7);

/// Zeros and ones: [step, 1, y, x, channel].
DenseTrain drawn_input(const NetworkSpec& spec, uint64_t seed = 11);

/// What every stage handed on, and the logits in the end.
struct RunOfNetwork {
  std::vector<Signal> outputs;  // [stage]
  Buffer<float> logits;
};
RunOfNetwork run_network(const Network& network, const Signal& input);

}  // namespace bntt::testing
