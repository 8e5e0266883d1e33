#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bntt/api.h"
#include "bntt/network_spec.h"

namespace bntt {

/// What the networks of the zoo leave to choose.
struct ZooOptions {
  MapShape input = {3, 32, 32};
  int64_t classes = 10;
  int64_t steps = 25;
  double width = 1.0;  ///< multiplies every hidden channel and feature count
  Propagation propagation = Propagation::instant;
  NormSpec norm;
  NeuronSpec neuron;
  NormSpec readout_norm = {.kind = "none"};
  bool divide_by_steps = true;
  float readout_leak = 1.0F;
  int64_t readout_votes = 1;
};

BNTT_API NetworkSpec vgg5(const ZooOptions& options);
BNTT_API NetworkSpec vgg9(const ZooOptions& options);
BNTT_API NetworkSpec vgg11(const ZooOptions& options);
BNTT_API NetworkSpec vgg16(const ZooOptions& options);
BNTT_API NetworkSpec cao_net(const ZooOptions& options);
BNTT_API NetworkSpec dvs_net(const ZooOptions& options);

/// tdBN's and TET's: blocks of 128, 256 and 512 channels, whose shortcut joins before the neurons.
BNTT_API NetworkSpec resnet19(const ZooOptions& options);
/// He's 16/32/64 form with 1x1 shortcuts; the conversion papers take it with norm `none`.
BNTT_API NetworkSpec resnet20(const ZooOptions& options);
/// For 32x32 images: the spikes of a block and of its shortcut are added up after firing.
BNTT_API NetworkSpec sew_resnet18(const ZooOptions& options);
/// For 32x32 images: a real-valued current runs through the network, and neurons read it.
BNTT_API NetworkSpec ms_resnet18(const ZooOptions& options);

BNTT_API std::vector<std::string> zoo_names();
/// Throws Error for an unknown name, with the nearest known one.
BNTT_API NetworkSpec zoo_network(std::string_view name, const ZooOptions& options);

}  // namespace bntt
