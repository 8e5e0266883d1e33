#include "model/zoo_parts.h"

// Chains from publications that BNTT is compared with, if they differ from those of the paper.
namespace bntt {

NetworkSpec cao_net_5x5(const ZooOptions& options) {
  const ZooParts with(options);
  const auto conv = [&](int64_t kernel) {
    return Conv{.channels = with.scaled(64),
                .kernel = kernel,
                .padding = kernel / 2,
                .norm = options.norm,
                .neuron = options.neuron};
  };
  return with.chain({conv(5), kPool, conv(5), kPool, conv(3), kPool, with.dense(64)});
}

namespace {

/// The stages of Wu et al. (2019), all with bias. NeuNorm applies to convolutions: the fully
/// connected stages of such a network are lif.
class WuParts {
 public:
  explicit WuParts(const ZooOptions& options)
      : with(options), options_(options), flat_(options.neuron) {
    if (flat_.kind == "neunorm") flat_.kind = "lif";
  }

  const ZooParts with;

  Conv conv(int64_t channels) const {
    return {.channels = with.scaled(channels),
            .bias = true,
            .norm = options_.norm,
            .neuron = options_.neuron};
  }
  Dense dense(int64_t features) const { return of(with.scaled(features), flat_); }
  Dense without_dropout(int64_t features) const { return of(with.scaled(features), kept()); }
  Dense votes() const { return of(options_.classes * options_.readout_votes, kept()); }

 private:
  NeuronSpec kept() const {
    NeuronSpec neuron = flat_;
    neuron.dropout = 0.0F;
    return neuron;
  }
  Dense of(int64_t features, const NeuronSpec& neuron) const {
    return {.features = features, .norm = options_.norm, .neuron = neuron, .bias = true};
  }

  const ZooOptions& options_;
  NeuronSpec flat_;
};

}  // namespace

// The published code applies no dropout to the second to last stage and to the votes.
NetworkSpec cifarnet(const ZooOptions& options) {
  const WuParts wu(options);
  return wu.with.network({wu.conv(128), wu.conv(256), kPool,  //
                          wu.conv(512), kPool,                //
                          wu.conv(1024), wu.conv(512),        //
                          wu.dense(1024), wu.without_dropout(512), wu.votes()},
                         wu.with.counting_readout());
}

NetworkSpec wu_dvs_net(const ZooOptions& options) {
  const WuParts wu(options);
  return wu.with.network({wu.conv(128), wu.conv(128), kPool,  //
                          wu.conv(128), wu.conv(256), kPool,  //
                          wu.dense(1024), wu.votes()},
                         wu.with.counting_readout());
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
