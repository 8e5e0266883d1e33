#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bntt/api.h"
#include "bntt/network_spec.h"

namespace bntt {

/// The options that the networks of the zoo share. The functions below throw Error for a width that
/// is not above 0 and at most 64 and for a pool_threshold below 0; plan_stages checks the rest. All
/// may be called from several threads.
struct ZooOptions {
  MapShape input = {3, 32, 32};  ///< one image or frame
  int64_t classes = 10;          ///< number of logits
  int64_t steps = 25;            ///< of one run
  double width = 1.0;            ///< multiplies every hidden channel and feature count
  Propagation propagation = Propagation::instant;  ///< of spikes between stages
  Init init = Init::xavier;                        ///< of the initial weights
  NormSpec norm;                                   ///< of hidden stages
  NeuronSpec neuron;                               ///< of hidden stages
  NormSpec readout_norm = {.kind = "none"};        ///< of the readout
  bool divide_by_steps = true;        ///< whether logits are divided by the number of steps
  float readout_leak = 1.0F;          ///< λ of the readout, above 0 and at most 1
  bool readout_leak_newest = false;   ///< see Readout, also for the next
  bool readout_leak_gradient = true;  ///< false: the leak acts only in the forward pass
  int64_t readout_votes = 1;          ///< outputs per class
  /// Above 0, every average pool has neurons of its own, without leak and with this threshold, so
  /// that its output is spikes again.
  float pool_threshold = 0.0F;
  bool zero_residual = false;  ///< the last norm of every residual block starts with gain 0
};

/// Three convolutions with 64 and 128 channels, and a fully connected stage.
BNTT_API NetworkSpec vgg5(const ZooOptions& options);
/// The paper's network for CIFAR-10: seven convolutions with 64 to 256 channels, and a fully
/// connected stage.
BNTT_API NetworkSpec vgg9(const ZooOptions& options);
/// The paper's network for CIFAR-100 and Tiny-ImageNet: eight convolutions with 64 to 512 channels,
/// a global pool, and a fully connected stage.
BNTT_API NetworkSpec vgg11(const ZooOptions& options);
/// Thirteen convolutions with 64 to 512 channels, five pools, and two fully connected stages.
BNTT_API NetworkSpec vgg16(const ZooOptions& options);
/// VGG16 of Rathi et al. (2020), without the fifth pool.
BNTT_API NetworkSpec rathi_vgg16(const ZooOptions& options);
/// After Cao et al. (2015): three convolutions with 64 channels, and a fully connected stage of 64.
BNTT_API NetworkSpec cao_net(const ZooOptions& options);
/// cao_net with kernels of 5x5, 5x5 and 3x3 pixels, as in Cao et al. (2015).
BNTT_API NetworkSpec cao_net_5x5(const ZooOptions& options);
/// The paper's network for DVS-CIFAR10: five convolutions with 128 to 1024 channels, and two fully
/// connected stages.
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

/// The names that zoo_network takes.
BNTT_API std::vector<std::string> zoo_names();
/// Throws Error for an unknown name and suggests the nearest known one.
BNTT_API NetworkSpec zoo_network(std::string_view name, const ZooOptions& options);

}  // namespace bntt
