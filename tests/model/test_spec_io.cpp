#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "bntt/error.h"
#include "bntt/zoo.h"

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
  return {.kind = any({"none", "bntt", "bn", "bn-time", "layer"}),
          .epsilon = positive(),
          .momentum = fraction()};
}

NeuronSpec any_neuron(bool ann) {
  return {.kind = ann ? "relu" : any({"lif", "if"}),
          .leak = fraction(),
          .threshold = positive(),
          .reset = any({Reset::soft, Reset::hard}),
          .detach_reset = *rc::gen::arbitrary<bool>(),
          .surrogate = {.kind = any({SurrogateKind::triangle, SurrogateKind::sigmoid,
                                     SurrogateKind::arctan, SurrogateKind::rectangle}),
                        .alpha = positive()}};
}

NetworkSpec any_network() {
  const auto count = [](int64_t low, int64_t high) { return *rc::gen::inRange(low, high); };
  const bool ann = *rc::gen::arbitrary<bool>();
  NetworkSpec spec;
  spec.input = {count(1, 5), count(8, 20), count(8, 20)};
  spec.steps = ann ? 1 : count(8, 100);
  if (!ann) spec.propagation = any({Propagation::instant, Propagation::delayed});
  for (int64_t i = count(0, 4); i > 0; --i) {
    spec.stages.emplace_back(Conv3x3{count(1, 100), any_norm(), any_neuron(ann)});
  }
  spec.stages.emplace_back(AvgPool{count(0, 4)});
  for (int64_t i = count(0, 4); i > 0; --i) {
    spec.stages.emplace_back(Dense{count(1, 100), any_norm(), any_neuron(ann)});
  }
  spec.stages.emplace_back(Readout{count(1, 100), any_norm(), *rc::gen::arbitrary<bool>()});
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
            "net.toml: stages[0].norm.kind is the string \"bnt\", expected one of none, bntt, bn, "
            "bn-time, layer, did you mean 'bntt'?");
  EXPECT_EQ(complaint("[[stages]]\ntype = \"conv\""),
            "net.toml: stages[0].type is the string \"conv\", expected one of conv3x3, dense, "
            "avg-pool, readout, did you mean 'conv3x3'?");
  EXPECT_EQ(complaint("[[stages]]\ntype = \"readout\"\nclases = 3"),
            "net.toml: unknown key 'stages[0].clases', did you mean 'stages[0].classes'?");
  EXPECT_EQ(complaint("steps = 0\n[[stages]]\ntype = \"readout\""),
            "net.toml: steps is 0, expected 1 to 65536");
  EXPECT_EQ(complaint(""), "net.toml: the network has 0 readouts, expected exactly 1");
  EXPECT_THROW(network_from_json("[]", "net.json"), Error);
}

}  // namespace
}  // namespace bntt
