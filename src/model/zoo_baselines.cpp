#include "model/zoo_parts.h"

// Chains from publications that BNTT is compared with, if they differ from those of the paper.
namespace bntt {

// NeuNorm applies to convolutions: the fully connected stages of such a network are lif. The
// published code applies no dropout to the second to last stage and to the votes.
NetworkSpec cifarnet(const ZooOptions& options) {
  const ZooParts with(options);
  NeuronSpec flat = options.neuron;
  if (flat.kind == "neunorm") flat.kind = "lif";
  NeuronSpec kept = flat;
  kept.dropout = 0.0F;
  const auto conv = [&](int64_t channels) {
    return Conv{.channels = with.scaled(channels),
                .bias = true,
                .norm = options.norm,
                .neuron = options.neuron};
  };
  const auto dense = [&](int64_t features, const NeuronSpec& neuron) {
    return Dense{.features = features, .norm = options.norm, .neuron = neuron, .bias = true};
  };
  return with.network({conv(128), conv(256), kPool,     //
                       conv(512), kPool,                //
                       conv(1024), conv(512),           //
                       dense(with.scaled(1024), flat),  //
                       dense(with.scaled(512), kept),   //
                       dense(options.classes * options.readout_votes, kept)},
                      with.counting_readout());
}

// Dropout is applied only before the fully connected stages, after the pool.
NetworkSpec plif_net(const ZooOptions& options) {
  const ZooParts with(options);
  NeuronSpec kept = options.neuron;
  kept.dropout = 0.0F;
  const NormSpec none{.kind = "none"};
  const Conv3x3 conv{with.scaled(256), options.norm, kept};
  const PoolSpec halved{PoolKind::max, 2};
  return with.network({conv, conv, conv, MaxPool{},                                            //
                       conv, conv, conv, with.pooled("pool", halved, options.neuron.dropout),  //
                       Dense{with.scaled(2048), none, options.neuron},                         //
                       Dense{options.classes * options.readout_votes, none, kept}},
                      with.counting_readout());
}

// Dropout is applied only before the fully connected stages, after the pool.
NetworkSpec tebn_vgg9(const ZooOptions& options) {
  const ZooParts with(options);
  NeuronSpec kept = options.neuron;
  kept.dropout = 0.0F;
  const auto conv = [&](int64_t channels) {
    return Conv3x3{with.scaled(channels), options.norm, kept};
  };
  const NeuronSpec current{.kind = "none",
                           .dropout = options.neuron.dropout,
                           .dropout_per_step = options.neuron.dropout_per_step};
  const PoolSpec halved{PoolKind::average, 2};
  Readout readout = with.readout();
  readout.bias = true;
  return with.network({conv(64), conv(64), kPool,                            //
                       conv(128), conv(128), kPool,                          //
                       conv(256), conv(256), conv(256),                      //
                       with.pooled("pool", halved, options.neuron.dropout),  //
                       Dense{with.scaled(1024), {.kind = "none"}, current, /*bias=*/true}},
                      readout);
}

}  // namespace bntt
