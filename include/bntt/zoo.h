#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bntt/api.h"
#include "bntt/network_spec.h"

namespace bntt {

/// The options that the networks of the zoo share.
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
  bool readout_leak_newest = false;   ///< see Readout, also for the next
  bool readout_leak_gradient = true;  ///< false: the leak acts only in the forward pass
  int64_t readout_votes = 1;
  /// Above 0, every average pool has neurons of its own, without leak and with this threshold, so
  /// that its output is spikes again.
  float pool_threshold = 0.0F;
  bool zero_residual = false;  ///< the last norm of every residual block starts with gain 0
};

BNTT_API NetworkSpec vgg5(const ZooOptions& options);
BNTT_API NetworkSpec vgg9(const ZooOptions& options);
BNTT_API NetworkSpec vgg11(const ZooOptions& options);
BNTT_API NetworkSpec vgg16(const ZooOptions& options);
/// VGG16 of Rathi et al. (2020), without the fifth pool.
BNTT_API NetworkSpec rathi_vgg16(const ZooOptions& options);
BNTT_API NetworkSpec cao_net(const ZooOptions& options);
/// cao_net with kernels of 5x5, 5x5 and 3x3 pixels, as in Cao et al. (2015).
BNTT_API NetworkSpec cao_net_5x5(const ZooOptions& options);
BNTT_API NetworkSpec dvs_net(const ZooOptions& options);
/// CIFARNet of Wu et al.: five convolutions and three fully connected stages, all with bias; the
/// last one votes.
BNTT_API NetworkSpec cifarnet(const ZooOptions& options);
/// The network of Wu et al. for DVS-CIFAR10: four convolutions, one fully connected stage and the
/// votes, all with bias.
BNTT_API NetworkSpec wu_dvs_net(const ZooOptions& options);
/// The network of PLIF: six convolutions, max pools, and two fully connected stages; the last one
/// votes.
BNTT_API NetworkSpec plif_net(const ZooOptions& options);
/// VGG9 in the form of TEBN's authors: its fully connected stage has no neurons.
BNTT_API NetworkSpec tebn_vgg9(const ZooOptions& options);

/// ResNet-19 of tdBN and TET: blocks of 128, 256 and 512 channels, whose shortcut joins before the
/// neurons.
BNTT_API NetworkSpec resnet19(const ZooOptions& options);
/// ResNet-20 of He et al. with 16, 32 and 64 channels and 1x1 shortcuts. The conversion papers use
/// it with norm `none`; here it can be trained so, but not converted, since it has branches.
BNTT_API NetworkSpec resnet20(const ZooOptions& options);
/// For 32x32 images: the spikes of a block and of its shortcut are added after firing.
BNTT_API NetworkSpec sew_resnet18(const ZooOptions& options);
/// For 32x32 images: a real-valued current passes through the whole network, and neurons read it.
BNTT_API NetworkSpec ms_resnet18(const ZooOptions& options);

BNTT_API std::vector<std::string> zoo_names();
/// Throws Error for an unknown name and suggests the nearest known one.
BNTT_API NetworkSpec zoo_network(std::string_view name, const ZooOptions& options);

}  // namespace bntt
