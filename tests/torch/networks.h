#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "bntt/network_spec.h"
#include "cases.h"

namespace bntt {

struct NamedNetwork {
  std::string name;
  std::vector<Encoding> encodings;  ///< that its first stages can read
  NetworkSpec spec;
};
void PrintTo(const NamedNetwork& network, std::ostream* out);

/// Small networks that put branches, sources, pools and neurons together in every way that we could
/// think of.
std::vector<NamedNetwork> branched_networks();

/// A small network of each residual family in the literature.
std::vector<NamedNetwork> residual_networks();

/// The residual networks of the zoo, narrow.
std::vector<NamedNetwork> zoo_residual_networks();

/// The first two lists.
std::vector<NamedNetwork> networks_with_branches();

// Parts of such networks, which have an input of 3x9x6.

template <typename... Stages>
NetworkSpec network_of(int64_t steps, Stages... stages) {
  NetworkSpec spec{.input = {3, 9, 6}, .steps = steps};
  (spec.stages.emplace_back(std::move(stages)), ...);
  return spec;
}

/// With the padding that keeps the map's size at stride 1.
SynapseSpec convolution(int64_t channels, int64_t kernel = 3, int64_t stride = 1);
SynapseSpec fully_connected(int64_t features);
SynapseSpec identity();
SynapseSpec with_bias(SynapseSpec synapse);

BranchSpec branch(std::vector<std::string> source, const SynapseSpec& synapse, const NormSpec& norm,
                  const PoolSpec& pool = {});
BranchedStage stage(std::string name, std::vector<BranchSpec> branches, const NeuronSpec& neuron);
/// Four classes, with a bias.
Readout readout(std::vector<std::string> source = {});

}  // namespace bntt
