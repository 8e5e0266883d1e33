#include <algorithm>

#include "networks.h"

namespace bntt {

void PrintTo(const NamedNetwork& network, std::ostream* out) { *out << network.name; }

SynapseSpec convolution(int64_t channels, int64_t kernel, int64_t stride) {
  return {.outputs = channels, .kernel = kernel, .stride = stride, .padding = kernel / 2};
}

SynapseSpec fully_connected(int64_t features) {
  return {.kind = SynapseKind::dense, .outputs = features};
}

SynapseSpec identity() { return {.kind = SynapseKind::identity}; }

SynapseSpec with_bias(SynapseSpec synapse) {
  synapse.bias = true;
  return synapse;
}

BranchSpec branch(std::vector<std::string> source, const SynapseSpec& synapse, const NormSpec& norm,
                  const PoolSpec& pool) {
  return {.source = std::move(source), .pool = pool, .synapse = synapse, .norm = norm};
}

BranchedStage stage(std::string name, std::vector<BranchSpec> branches, const NeuronSpec& neuron) {
  return {.name = std::move(name), .branches = std::move(branches), .neuron = neuron};
}

Readout readout(std::vector<std::string> source) {
  return {.classes = 4, .bias = true, .source = std::move(source)};
}

namespace {

constexpr int64_t kSteps = 4;
const NormSpec kNone = {.kind = "none"};
const NormSpec kBntt = {.kind = "bntt", .momentum = 0.6F};
const NormSpec kShifted = {.kind = "bn-time", .momentum = 0.6F, .shift = true};
const NormSpec kLayer = {.kind = "layer", .shift = true};
const NeuronSpec kLif = {.leak = 0.8F, .threshold = 0.7F};
const NeuronSpec kCurrent = {.kind = "none"};

const std::vector<Encoding> kAnyEncoding = {Encoding::signed_spikes, Encoding::counts,
                                            Encoding::direct, Encoding::real_frames};
const std::vector<Encoding> kSpikesOrReal = {Encoding::signed_spikes, Encoding::direct};
/// A max pool takes one plane of spikes.
const std::vector<Encoding> kMaxPoolable = {Encoding::unsigned_spikes, Encoding::direct,
                                            Encoding::real_frames};

BranchedStage spiking(std::string name, std::vector<BranchSpec> branches) {
  return stage(std::move(name), std::move(branches), kLif);
}

Conv3x3 first(int64_t channels) { return {.channels = channels, .norm = kBntt, .neuron = kLif}; }

NetworkSpec two_convolutions() {
  return network_of(kSteps, first(5),
                    spiking("", {branch({}, convolution(7), kBntt),
                                 branch({"input"}, with_bias(convolution(7, 5)), kShifted)}),
                    readout());
}

NetworkSpec every_norm_in_one_stage() {
  std::vector<BranchSpec> branches;
  for (const std::string& kind : norm_names()) {
    const NormSpec norm{.kind = kind, .momentum = 0.6F, .shift = kind != "none"};
    branches.push_back(branch({}, convolution(6), norm));
  }
  return network_of(kSteps, first(5), spiking("", branches), readout());
}

NetworkSpec identity_of_the_input() {
  return network_of(
      kSteps,
      spiking("", {branch({}, convolution(3), kBntt), branch({"input"}, identity(), kShifted)}),
      spiking("", {branch({}, with_bias(identity()), kNone),
                   branch({"input"}, with_bias(identity()), kNone)}),
      readout());
}

NetworkSpec dense_branches() {
  return network_of(kSteps, first(5), first(4),
                    spiking("merge", {branch({"conv1"}, with_bias(fully_connected(11)), kLayer),
                                      branch({"conv2"}, fully_connected(11), kBntt, {.size = 2}),
                                      branch({"input"}, with_bias(fully_connected(11)), kNone)}),
                    spiking("", {branch({}, fully_connected(11), kBntt),
                                 branch({"merge"}, with_bias(identity()), kNone)}),
                    readout());
}

NetworkSpec more_channels_than_a_word() {
  return network_of(kSteps, first(70),
                    spiking("sum", {branch({}, convolution(70, 1), kBntt),
                                    branch({"conv1"}, identity(), kShifted)}),
                    spiking("", {branch({"sum", "conv1"}, convolution(70, 3, 2), kBntt),
                                 branch({"sum", "conv1"}, convolution(70, 1, 2), kBntt)}),
                    readout());
}

NetworkSpec spikes_added_up() {
  return network_of(kSteps, first(5), first(5),
                    spiking("third", {branch({"conv1", "conv2"}, convolution(5), kBntt)}),
                    spiking("fourth", {branch({"third", "conv1", "conv2"}, convolution(5), kBntt),
                                       branch({"conv1", "third"}, identity(), kNone)}),
                    spiking("", {branch({"third", "fourth"}, fully_connected(9), kBntt)}),
                    readout());
}

NetworkSpec readout_of_several_stages() {
  return network_of(kSteps, first(5), first(5), AvgPool{}, readout({"conv1", "conv2"}));
}

NetworkSpec one_stage_read_through_many_pools() {
  return network_of(
      kSteps, first(5),
      spiking("small", {branch({}, convolution(5), kBntt, {.size = 2}),
                        branch({}, convolution(5, 1), kBntt, {PoolKind::sum, 2}),
                        branch({}, identity(), kNone, {PoolKind::max, 2}),
                        branch({}, {.outputs = 5, .kernel = 2, .stride = 2, .padding = 0}, kNone)}),
      spiking("pair", {branch({"conv1"}, fully_connected(7), kBntt, {PoolKind::average, 0}),
                       branch({"small"}, fully_connected(7), kBntt, {PoolKind::sum, 0}),
                       branch({"conv1"}, fully_connected(7), kNone, {PoolKind::max, 0})}),
      readout());
}

NetworkSpec sums_read_through_pools() {
  return network_of(
      kSteps, first(5), first(5),
      spiking("", {branch({"conv1", "conv2"}, convolution(5), kBntt, {.size = 3}),
                   branch({"conv2", "conv1"}, identity(), kBntt, {PoolKind::sum, 3})}),
      readout());
}

NetworkSpec input_read_through_pools() {
  return network_of(kSteps,
                    spiking("", {branch({}, convolution(3), kBntt, {.size = 2}),
                                 branch({"input"}, convolution(3, 1), kBntt, {PoolKind::max, 2}),
                                 branch({"input"}, identity(), kShifted, {PoolKind::sum, 2})}),
                    readout());
}

NetworkSpec currents_between_spikes() {
  return network_of(
      kSteps, stage("current", {branch({}, with_bias(convolution(5)), kBntt)}, kCurrent),
      spiking("spikes", {branch({}, identity(), kNone)}),
      stage("sum",
            {branch({"spikes"}, convolution(5), kShifted), branch({"current"}, identity(), kNone)},
            kCurrent),
      spiking("", {branch({}, convolution(6, 3, 2), kBntt),
                   branch({"spikes"}, convolution(6, 1, 2), kBntt)}),
      readout());
}

NetworkSpec currents_read_through_pools() {
  return network_of(kSteps, first(5),
                    stage("current", {branch({}, convolution(5), kBntt)}, kCurrent),
                    spiking("", {branch({}, convolution(5), kBntt, {.size = 2}),
                                 branch({"current"}, convolution(5, 1), kBntt, {PoolKind::max, 2}),
                                 branch({"current"}, identity(), kShifted, {PoolKind::sum, 2})}),
                    readout());
}

NetworkSpec currents_into_the_readout() {
  return network_of(kSteps, first(5), stage("", {branch({}, fully_connected(6), kNone)}, kCurrent),
                    readout());
}

NetworkSpec learned_leaks() {
  const NeuronSpec plif{.kind = "plif", .leak = 0.6F, .threshold = 0.6F};
  return network_of(
      kSteps, stage("first", {branch({}, convolution(5), kShifted)}, plif),
      stage("",
            {branch({}, convolution(5), kBntt), branch({"first"}, with_bias(identity()), kNone),
             branch({"input"}, with_bias(convolution(5)), kLayer)},
            plif),
      readout());
}

/// ReLU neurons and one step.
NetworkSpec residual_ann() {
  const NeuronSpec relu{.kind = "relu"};
  return network_of(
      /*steps=*/1, stage("first", {branch({}, convolution(5, 5), kBntt)}, relu),
      stage("current", {branch({}, convolution(5), kShifted), branch({"first"}, identity(), kNone)},
            kCurrent),
      stage("",
            {branch({"first"}, with_bias(convolution(6, 3, 2)), kNone),
             branch({"current"}, convolution(6, 1, 2), kNone)},
            relu),
      MaxPool{}, readout());
}

}  // namespace

std::vector<NamedNetwork> branched_networks() {
  return {
      {"two_convolutions", kAnyEncoding, two_convolutions()},
      {"every_norm_in_one_stage", kSpikesOrReal, every_norm_in_one_stage()},
      {"identity_of_the_input", kAnyEncoding, identity_of_the_input()},
      {"dense_branches", kSpikesOrReal, dense_branches()},
      {"more_channels_than_a_word", kSpikesOrReal, more_channels_than_a_word()},
      {"spikes_added_up", kSpikesOrReal, spikes_added_up()},
      {"readout_of_several_stages", kSpikesOrReal, readout_of_several_stages()},
      {"one_stage_read_through_many_pools", kSpikesOrReal, one_stage_read_through_many_pools()},
      {"sums_read_through_pools", kSpikesOrReal, sums_read_through_pools()},
      {"input_read_through_pools", kMaxPoolable, input_read_through_pools()},
      {"currents_between_spikes", kAnyEncoding, currents_between_spikes()},
      {"currents_read_through_pools", kSpikesOrReal, currents_read_through_pools()},
      {"currents_into_the_readout", kSpikesOrReal, currents_into_the_readout()},
      {"learned_leaks", kSpikesOrReal, learned_leaks()},
      {"residual_ann", {Encoding::direct}, residual_ann()},
  };
}

std::vector<NamedNetwork> networks_with_branches() {
  std::vector<NamedNetwork> networks = branched_networks();
  std::ranges::move(residual_networks(), std::back_inserter(networks));
  return networks;
}

}  // namespace bntt
