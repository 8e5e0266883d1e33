#include "nir_networks.h"

#include <random>

namespace bntt::testing {
namespace {

NeuronSpec hard(float leak, float threshold = 1.0F) {
  return {.leak = leak, .threshold = threshold, .reset = Reset::hard};
}

SynapseSpec conv(int64_t outputs, int64_t kernel, int64_t stride, bool bias = false) {
  return {
      .outputs = outputs, .kernel = kernel, .stride = stride, .padding = kernel / 2, .bias = bias};
}

const SynapseSpec kIdentity{.kind = SynapseKind::identity};
const NormSpec kShifted{.kind = "bn", .shift = true};
const NormSpec kNone{.kind = "none"};

/// Convolutions with folded norms, average pools, a dense layer behind a map.
NetworkSpec chain() {
  return {.input = {2, 8, 8},
          .steps = 12,
          .stages = {Conv3x3{6, kShifted, hard(0.9F)}, AvgPool{2},
                     Conv{8, 3, 2, 1, true, {.kind = "bn-time"}, hard(0.75F, 0.5F)}, AvgPool{2},
                     Dense{10, {.kind = "tdbn"}, hard(0.95F), true}, Readout{.classes = 4}}};
}

/// Integrate-and-fire, firing at the threshold, a sum pool, votes of the last spikes.
NetworkSpec integrators() {
  NeuronSpec at_threshold = hard(1.0F);
  at_threshold.kind = "if";
  at_threshold.fire = Fire::ge;
  NeuronSpec learned = hard(0.8F);
  learned.kind = "plif";
  return {.input = {1, 6, 6},
          .steps = 10,
          .stages = {Conv{4, 5, 1, 2, true, kNone, at_threshold}, SumPool{3},
                     Dense{12, kShifted, learned},
                     Readout{.classes = 3,
                             .divide_by_steps = false,
                             .votes = 4,
                             .synapse = SynapseKind::identity}}};
}

/// Shortcuts: scaled, shifted and plain; spikes of two stages added up; real values between stages.
NetworkSpec branches() {
  return {
      .input = {2, 6, 6},
      .steps = 10,
      .stages = {BranchedStage{"stem", {{.synapse = conv(6, 3, 1), .norm = kShifted}}, hard(0.9F)},
                 BranchedStage{"block",
                               {{.source = {"stem"}, .synapse = conv(6, 3, 1), .norm = kShifted},
                                {.source = {"stem"}, .synapse = kIdentity, .norm = kNone}},
                               hard(0.75F)},
                 BranchedStage{"passed",
                               {{.source = {"block"}, .synapse = conv(6, 1, 1), .norm = kShifted},
                                {.source = {"stem"}, .synapse = kIdentity, .norm = kShifted}},
                               {.kind = "none"}},
                 BranchedStage{"last",
                               {{.source = {"stem", "block"},
                                 .pool = {PoolKind::average, 2},
                                 .synapse = conv(5, 3, 1),
                                 .norm = kShifted},
                                {.source = {"passed"},
                                 .pool = {PoolKind::average, 2},
                                 .synapse = conv(5, 1, 1, true),
                                 .norm = kNone}},
                               hard(0.9F)},
                 Readout{.classes = 3, .bias = true, .source = {"last"}, .leak = 0.8F}}};
}

/// A readout that leaks its newest current, too.
NetworkSpec leaky_readout() {
  return {.input = {2, 4, 4},
          .steps = 8,
          .stages = {
              Conv3x3{5, kShifted, hard(0.9F)},
              Readout{.classes = 3, .divide_by_steps = false, .leak = 0.7F, .leak_newest = true}}};
}

}  // namespace

std::vector<NirCase> exact_nir_cases() {
  return {{"chain", chain()},
          {"integrators", integrators()},
          {"branches", branches()},
          {"leaky_readout", leaky_readout()}};
}

NirCase stepwise_nir_case() {
  const NormSpec bntt{.kind = "bntt"};
  return {"stepwise",
          {.input = {2, 8, 8},
           .steps = 9,
           .stages = {Conv3x3{6, bntt, hard(0.9F)},
                      BranchedStage{"block",
                                    {{.source = {"conv1"}, .synapse = conv(6, 3, 2), .norm = bntt},
                                     {.source = {"conv1"},
                                      .pool = {PoolKind::average, 2},
                                      .synapse = kIdentity,
                                      .norm = bntt}},
                                    hard(0.75F)},
                      Dense{10, bntt, hard(0.95F)}, Readout{.classes = 4}}}};
}

Network filled_network(const NetworkSpec& spec, uint64_t seed) {
  Network network(spec, seed);
  std::mt19937 random(static_cast<uint32_t>(seed));
  const auto draw = [&](float low, float high) {
    return low + (high - low) * static_cast<float>(random() % 4096) / 4096.0F;
  };
  for (Parameter& parameter : network.parameters()) {
    for (float& value : parameter.value) {
      if (parameter.group == ParameterGroup::gain) value = draw(0.5F, 1.5F);
      if (parameter.group == ParameterGroup::shift) value = draw(-0.2F, 0.5F);
      if (parameter.group == ParameterGroup::bias) value = draw(-0.1F, 0.3F);
    }
  }
  for (Statistic& statistic : network.statistics()) {
    const bool mean = statistic.name.ends_with("running_mean");
    for (float& value : statistic.value) value = mean ? draw(-0.3F, 0.3F) : draw(0.2F, 1.2F);
  }
  return network;
}

DenseTrain drawn_input(const NetworkSpec& spec, uint64_t seed) {
  DenseTrain input{.steps = spec.steps,
                   .batch = 1,
                   .shape = spec.input,
                   .values = Buffer<float>(spec.steps * spec.input.size())};
  std::mt19937 random(static_cast<uint32_t>(seed));
  for (float& value : input.values) value = random() % 3 == 0 ? 1.0F : 0.0F;
  return input;
}

RunOfNetwork run_network(const Network& network, const Signal& input) {
  RunOfNetwork run;
  run.outputs.resize(network.stages().size());
  ChainState state = network.start(signal_batch(input));
  AdvanceOptions options;
  options.observe = [&](std::size_t stage, int64_t, const std::vector<const Signal*>&,
                        const Signal& output) { run.outputs[stage] = output; };
  network.advance(input, state, options);
  run.logits = network.logits(state);
  return run;
}

}  // namespace bntt::testing
