#include "bntt/zoo.h"
#include "networks.h"

// S3 and S1: 3x3 and 1x1 convolution; N: norm; F: neurons; i: what a block reads.
namespace bntt {
namespace {

constexpr int64_t kSteps = 4;
constexpr int64_t kChannels = 5;      // of the first blocks
constexpr int64_t kMoreChannels = 7;  // of the blocks that halve the map
const std::vector<Encoding> kEncodings = {Encoding::signed_spikes, Encoding::direct};

/// F(N(S3(F(N(S3 i)))) + i) with `of_identity` the norm of the i that is added, then the same with
/// stride 2 and a shortcut N(S1 i).
NetworkSpec blocks_that_add_currents(const NormSpec& norm, const NormSpec& of_identity,
                                     const NeuronSpec& neuron) {
  const SynapseSpec same = convolution(kChannels);
  return network_of(
      kSteps, stage("stem", {branch({}, same, norm)}, neuron),
      stage("block1a", {branch({}, same, norm)}, neuron),
      stage("block1b", {branch({}, same, norm), branch({"stem"}, identity(), of_identity)}, neuron),
      stage("block2a", {branch({}, convolution(kMoreChannels, 3, 2), norm)}, neuron),
      stage("block2b",
            {branch({}, convolution(kMoreChannels), norm),
             branch({"block1b"}, convolution(kMoreChannels, 1, 2), norm)},
            neuron),
      stage("hidden",
            {branch({}, with_bias(fully_connected(9)), {.kind = "none"}, {PoolKind::average, 0})},
            neuron),
      readout());
}

NetworkSpec tdbn_network() {
  return blocks_that_add_currents(
      {.kind = "tdbn", .epsilon = 1e-5F, .momentum = 0.6F, .shift = true}, {.kind = "none"},
      {.leak = 0.25F,
       .threshold = 0.5F,
       .reset = Reset::hard,
       .detach_reset = false,
       .surrogate = {.kind = SurrogateKind::rectangle, .alpha = 1.0F, .width = 1.0F}});
}

NetworkSpec tet_network() {
  return blocks_that_add_currents(
      {.kind = "bn-time", .epsilon = 1e-5F, .momentum = 0.6F, .shift = true}, {.kind = "none"},
      {.leak = 0.5F,
       .reset = Reset::hard,
       .detach_reset = false,
       .surrogate = {.kind = SurrogateKind::triangle, .alpha = 1.0F}});
}

NetworkSpec tebn_network() {
  const NormSpec norm{.kind = "tebn", .epsilon = 1e-5F, .momentum = 0.6F, .shift = true};
  return blocks_that_add_currents(norm, norm,
                                  {.leak = 0.25F,
                                   .reset = Reset::hard,
                                   .detach_reset = false,
                                   .surrogate = {.kind = SurrogateKind::triangle, .alpha = 1.0F}});
}

NetworkSpec rathi_network() {
  const NormSpec none{.kind = "none"};
  return blocks_that_add_currents(
      none, none, {.kind = "if", .surrogate = {.kind = SurrogateKind::triangle, .alpha = 0.3F}});
}

/// Spikes are added up after firing: o = F(N(S3(F(N(S3 i))))) + i, so what a block reads is the
/// outputs of several stages. Where the map shrinks, the i that is added is a stage F(N(S1 i)).
NetworkSpec sew_network() {
  const NormSpec norm{.kind = "bn", .epsilon = 1e-5F, .momentum = 0.6F, .shift = true};
  const NeuronSpec neuron{.kind = "if",
                          .fire = Fire::ge,
                          .reset = Reset::hard,
                          .surrogate = {.kind = SurrogateKind::arctan, .alpha = 1.0F}};
  const SynapseSpec more = convolution(kMoreChannels);
  return network_of(
      kSteps, stage("stem", {branch({}, convolution(kChannels), norm)}, neuron),
      stage("block1a", {branch({}, convolution(kChannels), norm)}, neuron),
      stage("block1b", {branch({}, convolution(kChannels), norm)}, neuron),
      stage("block2a", {branch({"block1b", "stem"}, convolution(kMoreChannels, 3, 2), norm)},
            neuron),
      stage("block2b", {branch({}, more, norm)}, neuron),
      stage("shortcut2", {branch({"block1b", "stem"}, convolution(kMoreChannels, 1, 2), norm)},
            neuron),
      stage("block3a", {branch({"block2b", "shortcut2"}, more, norm)}, neuron),
      stage("block3b", {branch({}, more, norm)}, neuron), AvgPool{0},
      readout({"block3b", "block2b", "shortcut2"}));
}

/// Currents are added up before firing: c' = c + N(S3(F(N(S3(F c))))), with a shortcut N(S1 c) of
/// the currents themselves where the map shrinks.
NetworkSpec ms_network() {
  const NormSpec norm{.kind = "bn-time", .momentum = 0.6F, .shift = true, .gain_start = 0.5F};
  NormSpec last = norm;
  last.gain_start = 0.0F;
  const NeuronSpec fire{
      .leak = 0.25F,
      .threshold = 0.5F,
      .reset = Reset::hard,
      .surrogate = {.kind = SurrogateKind::rectangle, .alpha = 1.0F, .width = 1.0F}};
  const NeuronSpec current{.kind = "none"};
  const NormSpec none{.kind = "none"};
  return network_of(
      kSteps, stage("current1", {branch({}, convolution(kChannels), norm)}, current),
      stage("spikes1", {branch({}, identity(), none)}, fire),
      stage("middle1", {branch({}, convolution(kChannels), norm)}, fire),
      stage("current2",
            {branch({}, convolution(kChannels), last), branch({"current1"}, identity(), none)},
            current),
      stage("spikes2", {branch({}, identity(), none)}, fire),
      stage("middle2", {branch({}, convolution(kMoreChannels, 3, 2), norm)}, fire),
      stage("current3",
            {branch({}, convolution(kMoreChannels), last),
             branch({"current2"}, convolution(kMoreChannels, 1, 2), norm)},
            current),
      stage("spikes3", {branch({}, identity(), none)}, fire), AvgPool{0}, readout());
}

}  // namespace

std::vector<NamedNetwork> residual_networks() {
  return {{"tdbn", kEncodings, tdbn_network()}, {"tet", kEncodings, tet_network()},
          {"tebn", kEncodings, tebn_network()}, {"rathi", kEncodings, rathi_network()},
          {"sew", kEncodings, sew_network()},   {"ms", kEncodings, ms_network()}};
}

std::vector<NamedNetwork> zoo_residual_networks() {
  const auto narrow = [](const char* name, double width, const NormSpec& norm,
                         const NeuronSpec& neuron) {
    return zoo_network(name, {.input = {3, 9, 6},
                              .classes = 4,
                              .steps = kSteps,
                              .width = width,
                              .norm = norm,
                              .neuron = neuron});
  };
  const NormSpec shifted{.kind = "bn-time", .epsilon = 1e-5F, .momentum = 0.6F, .shift = true};
  NormSpec tdbn = shifted;
  tdbn.kind = "tdbn";
  NormSpec bn = shifted;
  bn.kind = "bn";
  const NeuronSpec lif{.leak = 0.5F, .threshold = 0.5F, .reset = Reset::hard};
  // A slope without an end: twenty stages without a norm leave few voltages near the threshold.
  const NeuronSpec integrating{.kind = "if",
                               .threshold = 0.5F,
                               .fire = Fire::ge,
                               .surrogate = {.kind = SurrogateKind::arctan, .alpha = 1.0F}};
  return {{"resnet19", kEncodings, narrow("resnet19", 0.06, tdbn, lif)},
          {"resnet20", kEncodings, narrow("resnet20", 0.3, {.kind = "none"}, integrating)},
          {"sew_resnet18", kEncodings, narrow("sew-resnet18", 0.06, bn, integrating)},
          {"ms_resnet18", kEncodings, narrow("ms-resnet18", 0.06, shifted, lif)}};
}

}  // namespace bntt
