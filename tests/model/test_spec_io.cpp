#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "bntt/error.h"
#include "bntt/zoo.h"
#include "kernels/surrogates.h"
#include "train/config.h"

namespace bntt {
namespace {

using ::testing::HasSubstr;

float fraction() { return static_cast<float>(*rc::gen::inRange(1, 100000)) / 100000.0F; }

// Over many magnitudes, and seldom a short decimal.
float positive() { return std::ldexp(1.0F + fraction(), *rc::gen::inRange(-30, 30)); }

template <typename Enum>
Enum any(std::initializer_list<Enum> values) {
  return *rc::gen::elementOf(std::vector<Enum>(values));
}

NormSpec any_norm() {
  const std::vector<KindInfo> kinds = norm_kinds();
  const std::string kind = kinds[*rc::gen::inRange<std::size_t>(0, kinds.size())].name;
  return {.kind = kind,
          .epsilon = positive(),
          .momentum = fraction(),
          .shift = kind != "none" && *rc::gen::arbitrary<bool>(),
          .gain_start = any({1.0F, positive()}),
          .alpha = any({0.0F, positive()})};
}

std::vector<std::string> names_of(const std::vector<KindInfo>& kinds) {
  std::vector<std::string> names;
  for (const KindInfo& kind : kinds) names.push_back(kind.name);
  return names;
}

std::string any_spiking_neuron() {
  std::vector<std::string> names = names_of(neuron_kinds());
  std::erase_if(
      names, [](const std::string& kind) { return !StagePlan{.neuron = {.kind = kind}}.spikes(); });
  return *rc::gen::elementOf(names);
}

std::optional<float> any_floor(const std::string& neuron) {
  if (neuron.starts_with("lee")) return std::nullopt;
  return any<std::optional<float>>({std::nullopt, 0.0F, -positive()});
}

NeuronSpec any_neuron(bool ann) {
  const std::string kind = ann ? "relu" : any_spiking_neuron();
  return {.kind = kind,
          .leak = 0.99F * fraction(),
          .threshold = positive(),
          .fire = any({Fire::gt, Fire::ge}),
          .reset = any({Reset::soft, Reset::hard}),
          .detach_reset = *rc::gen::arbitrary<bool>(),
          .floor = any_floor(kind),
          .surrogate = {.kind = (*rc::gen::elementOf(kSurrogates)).value,
                        .alpha = positive(),
                        .width = any({0.0F, positive()}),
                        .per_threshold = *rc::gen::arbitrary<bool>(),
                        .decay = any({0.01F, positive()})},
          .neunorm_decay = any({0.9F, 0.99F * fraction()}),
          .dropout = any({0.0F, 0.99F * fraction()}),
          .dropout_per_step = *rc::gen::arbitrary<bool>()};
}

/// Two branches whose maps agree, and a stage that adds their spikes up.
void add_branches(NetworkSpec& spec, int64_t channels, bool ann) {
  const int64_t kernel = any<int64_t>({1, 3, 5, 7});
  const SynapseSpec conv{.outputs = channels,
                         .kernel = kernel,
                         .stride = any<int64_t>({1, 2}),
                         .padding = kernel / 2,
                         .bias = *rc::gen::arbitrary<bool>()};
  SynapseSpec shortcut = conv;
  shortcut.kernel = 1;
  shortcut.padding = 0;
  spec.stages.emplace_back(
      BranchedStage{"first",
                    {{.source = {"input"}, .synapse = conv, .norm = any_norm()},
                     {.source = {"input"}, .synapse = shortcut, .norm = any_norm()}},
                    any_neuron(ann)});
  spec.stages.emplace_back(
      BranchedStage{"second",
                    {{.source = {"first"},
                      .pool = {.kind = any({PoolKind::average, PoolKind::sum, PoolKind::max}),
                               .size = any<int64_t>({0, 1, 2})},
                      .synapse = {.kind = SynapseKind::dense, .outputs = channels},
                      .norm = any_norm()}},
                    any_neuron(ann)});
}

NetworkSpec any_network() {
  const auto count = [](int64_t low, int64_t high) { return *rc::gen::inRange(low, high); };
  const bool ann = *rc::gen::arbitrary<bool>();
  NetworkSpec spec;
  spec.input = {count(1, 5), count(8, 20), count(8, 20)};
  spec.steps = ann ? 1 : count(8, 100);
  spec.init = any({Init::xavier, Init::he_fan_in, Init::he_fan_out, Init::vgg, Init::pytorch});
  const bool branched = *rc::gen::arbitrary<bool>();
  if (branched) add_branches(spec, count(1, 100), ann);
  if (!ann && !branched) spec.propagation = any({Propagation::instant, Propagation::delayed});
  for (int64_t i = branched ? 0 : count(0, 4); i > 0; --i) {
    spec.stages.emplace_back(Conv3x3{count(1, 100), any_norm(), any_neuron(ann)});
  }
  if (!branched) spec.stages.emplace_back(AvgPool{count(0, 4)});
  for (int64_t i = count(0, 4); i > 0; --i) {
    spec.stages.emplace_back(Dense{count(1, 100), any_norm(), any_neuron(ann)});
  }
  spec.stages.emplace_back(Readout{.classes = count(1, 100),
                                   .norm = any_norm(),
                                   .divide_by_steps = *rc::gen::arbitrary<bool>(),
                                   .votes = count(1, 5),
                                   .leak = fraction(),
                                   .leak_newest = *rc::gen::arbitrary<bool>(),
                                   .leak_gradient = *rc::gen::arbitrary<bool>()});
  return spec;
}

TEST(SpecIo, EveryNetworkRoundTrips) {
  EXPECT_TRUE(rc::check("parse(format(spec)) == spec", [] {
    const NetworkSpec spec = any_network();
    RC_ASSERT(network_from_json(to_json(spec), "spec.json") == spec);
    RC_ASSERT(network_from_toml(to_toml(spec), "spec.toml") == spec);
  }));
}

TEST(SpecIo, TomlReadsLikeTheNetwork) {
  const NetworkSpec spec = {
      .input = {1, 28, 28}, .steps = 8, .stages = {Conv3x3{16}, AvgPool{2}, Readout{10}}};
  EXPECT_EQ(to_toml(spec), R"(steps = 8
propagation = "instant"

[input]
channels = 1
height = 28
width = 28

[[stages]]
type = "conv3x3"
channels = 16
norm = { kind = "bntt", epsilon = 1e-4, momentum = 0.1 }
neuron = { kind = "lif", leak = 0.95, threshold = 1.0, reset = "soft", detach_reset = true, surrogate = { kind = "triangle", alpha = 0.3 } }

[[stages]]
type = "avg-pool"
size = 2

[[stages]]
type = "readout"
classes = 10
norm = { kind = "none", epsilon = 1e-4, momentum = 0.1 }
divide_by_steps = true
)");
}

std::string complaint(const std::string& toml) {
  try {
    network_from_toml(toml, "net.toml");
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(SpecIo, DefaultsNeedNotBeWritten) {
  const NetworkSpec spec = network_from_toml(
      "steps = 4\ninput = { channels = 1, height = 8, width = 8 }\n"
      "stages = [{ type = \"conv3x3\", channels = 3 }, { type = \"readout\" }]",
      "net.toml");
  EXPECT_EQ(spec.stages.front(), StageSpec(Conv3x3{3}));
  EXPECT_EQ(spec.stages.back(), StageSpec(Readout{}));
}

TEST(SpecIo, MistakesAreNamed) {
  EXPECT_EQ(complaint("[[stages]]\ntype = \"conv3x3\"\nnorm = { kind = \"bnt\" }"),
            fmt::format("net.toml: stages[0].norm.kind is the string \"bnt\", expected one of {}, "
                        "did you mean 'bntt'?",
                        fmt::join(names_of(norm_kinds()), ", ")));
  EXPECT_EQ(complaint("[[stages]]\ntype = \"conv5\""),
            "net.toml: stages[0].type is the string \"conv5\", expected one of conv3x3, dense, "
            "avg-pool, readout, conv, sum-pool, max-pool, stage, did you mean 'conv'?");
  EXPECT_EQ(complaint("[[stages]]\ntype = \"readout\"\nclases = 3"),
            "net.toml: unknown key 'stages[0].clases', did you mean 'stages[0].classes'?");
  EXPECT_EQ(complaint("steps = 0\n[[stages]]\ntype = \"readout\""),
            "net.toml: steps is 0, expected a whole number of at least 1 and at most 65536");
  EXPECT_EQ(complaint(""), "net.toml: the network has 0 readouts, expected exactly 1");
  EXPECT_THROW(network_from_json("[]", "net.json"), Error);
}

}  // namespace
}  // namespace bntt
