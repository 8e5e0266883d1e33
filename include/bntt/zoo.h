#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bntt/network_spec.h"

namespace bntt {

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
};

NetworkSpec vgg5(const ZooOptions& options);
NetworkSpec vgg9(const ZooOptions& options);
NetworkSpec vgg11(const ZooOptions& options);
NetworkSpec vgg16(const ZooOptions& options);
NetworkSpec cao_net(const ZooOptions& options);
NetworkSpec dvs_net(const ZooOptions& options);

std::vector<std::string> zoo_names();
/// Throws Error for an unknown name, with the nearest known one.
NetworkSpec zoo_network(std::string_view name, const ZooOptions& options);

}  // namespace bntt
