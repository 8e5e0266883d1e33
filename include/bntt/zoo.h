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
  Init init = Init::xavier;
  NormSpec norm;
  NeuronSpec neuron;
  NormSpec readout_norm = {.kind = "none"};
  bool divide_by_steps = true;
  float readout_leak = 1.0F;
  bool readout_leak_newest = false;   ///< see Readout, as the next
  bool readout_leak_gradient = true;  ///< false: forward only
  int64_t readout_votes = 1;
  /// Above 0, every average pool has neurons of its own, without leak and with this threshold: its
  /// output is spikes again.
  float pool_threshold = 0.0F;
  bool zero_residual = false;  ///< the last norm of every residual block starts with gain 0
};

BNTT_API NetworkSpec vgg5(const ZooOptions& options);
BNTT_API NetworkSpec vgg9(const ZooOptions& options);
BNTT_API NetworkSpec vgg11(const ZooOptions& options);
BNTT_API NetworkSpec vgg16(const ZooOptions& options);
/// Rathi et al. (2020): without the fifth pool.
BNTT_API NetworkSpec rathi_vgg16(const ZooOptions& options);
BNTT_API NetworkSpec cao_net(const ZooOptions& options);
BNTT_API NetworkSpec dvs_net(const ZooOptions& options);
/// Wu's: five convolutions and three fully connected stages, all with bias; the last one votes.
BNTT_API NetworkSpec cifarnet(const ZooOptions& options);
/// That of PLIF: six convolutions, max pools, and two fully connected stages, the last one votes.
BNTT_API NetworkSpec plif_net(const ZooOptions& options);
/// VGG9 as the authors of TEBN have it: its fully connected stage has no neurons.
BNTT_API NetworkSpec tebn_vgg9(const ZooOptions& options);

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
