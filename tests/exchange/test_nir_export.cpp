#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bntt/zoo.h"
#include "exchange/nir_export.h"
#include "exchange/nir_file.h"
#include "exchange/nir_import.h"
#include "message.h"
#include "nir_networks.h"

namespace bntt {
namespace {

using testing::drawn_input;
using testing::exact_nir_cases;
using testing::filled_network;
using ::testing::HasSubstr;
using testing::message_of;
using testing::run_network;

NetworkSpec bntt_network(Reset reset) {
  return vgg5({.input = {2, 8, 8},
               .classes = 4,
               .steps = 6,
               .width = 0.05,
               .norm = {.kind = "bntt"},
               .neuron = {.leak = 0.9F, .threshold = 0.25F, .reset = reset}});
}

const NirNode& node_of(const NirGraph& graph, const std::string& name) {
  for (const NirNode& node : graph.nodes) {
    if (node.name == name) return node;
  }
  ADD_FAILURE() << "no node " << name;
  return graph.nodes.front();
}

TEST(NirExport, ImportsAgainToTheSameSpikesAndNearlyTheSameLogits) {
  for (const auto& [name, spec] : exact_nir_cases()) {
    const Network network = filled_network(spec);
    const NirGraph graph = parse_nir(format_nir(to_nir(network, {}, {}).graph), name);
    const Network again = from_nir(graph, name).network;
    EXPECT_EQ(again.spec().steps, spec.steps);
    const auto before = run_network(network, drawn_input(spec));
    const auto after = run_network(again, drawn_input(spec));
    const auto trains = [](const Network& of, const testing::RunOfNetwork& run) {
      std::vector<const SpikeTrain*> result;
      for (std::size_t i = 0; i < run.outputs.size(); ++i) {
        if (of.stages()[i].spikes()) result.push_back(&std::get<SpikeTrain>(run.outputs[i]));
      }
      return result;
    };
    const auto fired = trains(network, before);
    const auto fired_again = trains(again, after);
    ASSERT_EQ(fired.size(), fired_again.size()) << name;
    for (std::size_t i = 0; i < fired.size(); ++i) {
      EXPECT_TRUE(std::ranges::equal(fired[i]->words(), fired_again[i]->words())) << name << i;
    }
    ASSERT_EQ(before.logits.size(), after.logits.size()) << name;
    for (int64_t i = 0; i < before.logits.size(); ++i) {
      EXPECT_NEAR(before.logits[i], after.logits[i], 1e-4) << name;
    }
  }
}

TEST(NirExport, NumbersAreThoseOfTheConvention) {
  const NetworkSpec spec = exact_nir_cases().front().spec;
  const Network network = filled_network(spec);
  const NirGraph graph = to_nir(network, {}, {.dt = 1e-3}).graph;
  const NirNode& neurons = node_of(graph, "conv1");
  EXPECT_EQ(neurons.type, "LIF");
  EXPECT_FLOAT_EQ(neurons.arrays.at("tau").at(0), 1e-3F / (1.0F - 0.9F));
  EXPECT_EQ(neurons.arrays.at("tau").shape, (std::vector<int64_t>{6, 8, 8}));
  EXPECT_EQ(neurons.arrays.at("r").at(0), 1.0F);
  EXPECT_EQ(neurons.arrays.at("v_threshold").at(0), 1.0F);
  // γ/√(σ² + ε)/(1 − λ), and behind an average pool of 2x2 a quarter of it.
  const Parameter& weight = network.parameters().front();
  const float gamma = network.gain(0)->value[0];
  const float variance = network.norm_statistics(0)[1].value[0];
  const Buffer<float> raw = to_pytorch_order(weight, weight.value);
  EXPECT_NEAR(node_of(graph, "conv1_weights").arrays.at("weight").at(0),
              raw[0] * gamma / std::sqrt(variance + 1e-4F) / 0.1F, 1e-4F);
  EXPECT_EQ(node_of(graph, "conv2_pool").type, "SumPool2d");
  EXPECT_EQ(node_of(graph, "fc1_flatten").type, "Flatten");
}

TEST(NirExport, LeakOneIsAnIntegrator) {
  const Network network = filled_network(exact_nir_cases()[1].spec);
  const NirGraph graph = to_nir(network, {}, {}).graph;
  const NirNode& node = node_of(graph, "conv1");
  EXPECT_EQ(node.type, "IF");
  EXPECT_FALSE(node.arrays.contains("tau"));
  // It fires at the threshold, NIR above it.
  EXPECT_EQ(node.arrays.at("v_threshold").at(0), std::nextafter(1.0F, 0.0F));
}

TEST(NirExport, SoftResetIsWrittenOnlyWhenTheLossIsAllowed) {
  NetworkSpec spec = exact_nir_cases().front().spec;
  std::get<Conv3x3>(spec.stages.front()).neuron.reset = Reset::soft;
  const Network network = filled_network(spec);
  EXPECT_THAT(message_of([&] { to_nir(network, {}, {}); }),
              ::testing::AllOf(HasSubstr("conv1"), HasSubstr("--allow-lossy")));
  const NirExport lossy = to_nir(network, {}, {.allow_lossy = true});
  EXPECT_TRUE(lossy.soft_reset);
  EXPECT_EQ(node_of(lossy.graph, "conv1").metadata.texts.at("reset"), "subtract");
  EXPECT_EQ(node_of(lossy.graph, "fc1").metadata.texts.at("reset"), "zero");
  const Network again = from_nir(lossy.graph, "file").network;
  EXPECT_EQ(again.stages()[0].neuron.reset, Reset::soft);
  EXPECT_EQ(again.stages()[2].neuron.reset, Reset::hard);
}

TEST(NirExport, LowerLimitsOfVoltagesAreWrittenOnlyWhenTheLossIsAllowed) {
  NetworkSpec spec = exact_nir_cases().front().spec;
  std::get<Conv3x3>(spec.stages.front()).neuron.floor = -0.25F;
  const Network network = filled_network(spec);
  EXPECT_THAT(message_of([&] { to_nir(network, {}, {}); }),
              ::testing::AllOf(HasSubstr("conv1: its neurons clip their voltage at -0.25"),
                               HasSubstr("--allow-lossy")));
  const NirExport lossy = to_nir(network, {}, {.allow_lossy = true});
  EXPECT_TRUE(lossy.clipped);
  EXPECT_FALSE(lossy.soft_reset);
  const NirGraph graph = parse_nir(format_nir(lossy.graph), "file");
  const Network again = from_nir(graph, "file").network;
  EXPECT_EQ(again.stages()[0].neuron.floor, -0.25F);
  EXPECT_EQ(again.stages()[2].neuron.floor, std::nullopt);
}

TEST(NirExport, NormsOfEveryStepNeedConsentAndComeBackExactly) {
  const Network network = filled_network(bntt_network(Reset::hard));
  EXPECT_THAT(message_of([&] { to_nir(network, {}, {}); }),
              ::testing::AllOf(HasSubstr("conv1"), HasSubstr("--bntt mean")));
  const NirExport mean = to_nir(network, {}, {.mean_of_steps = true});
  EXPECT_TRUE(mean.approximate);
  const NirNode& node = node_of(mean.graph, "conv1_weights");
  EXPECT_EQ(node.metadata.arrays.at("bntt_scale").shape, (std::vector<int64_t>{6, 3}));
  const NirArray& raw = node.metadata.arrays.at("raw_weight");
  const NirArray& scale = node.metadata.arrays.at("bntt_scale");
  double sum = 0.0;
  for (int64_t step = 0; step < 6; ++step) sum += scale.at(step * 3);
  EXPECT_NEAR(node.arrays.at("weight").at(0), raw.at(0) * sum / 6.0, 1e-4);

  const NirGraph graph = parse_nir(format_nir(mean.graph), "file");
  const Network again = from_nir(graph, "file").network;
  EXPECT_EQ(again.spec(), network.spec());
  const DenseTrain input = drawn_input(network.spec());
  const Buffer<float> exact = run_network(network, input).logits;
  EXPECT_TRUE(std::ranges::any_of(exact, [](float logit) { return logit != 0.0F; }));
  EXPECT_TRUE(std::ranges::equal(run_network(again, input).logits, exact));
  const Network others = from_nir(graph, "file", {.as_others = true}).network;
  EXPECT_FALSE(
      std::ranges::equal(run_network(others, input).logits, run_network(network, input).logits));
}

TEST(NirExport, WhatNirCannotSayIsRefusedByStage) {
  const auto refusal = [](NetworkSpec spec) {
    const Network network = filled_network(spec);
    return message_of([&] { to_nir(network, {}, {}); });
  };
  NetworkSpec spec = exact_nir_cases().front().spec;
  std::get<Conv3x3>(spec.stages.front()).norm = {.kind = "layer"};
  EXPECT_THAT(refusal(spec), HasSubstr("conv1: its norm 'layer'"));
  spec = exact_nir_cases().front().spec;
  std::get<Conv3x3>(spec.stages.front()).neuron.kind = "neunorm";
  EXPECT_EQ(refusal(spec), "conv1: neunorm neurons have no NIR node: their output is not spikes");
  spec = exact_nir_cases().front().spec;
  spec.stages[1] = MaxPool{2};
  EXPECT_THAT(refusal(spec), HasSubstr("max pool"));
  spec = exact_nir_cases().front().spec;
  spec.propagation = Propagation::delayed;
  EXPECT_THAT(refusal(spec), HasSubstr("delayed propagation"));
}

TEST(NirExport, EqualNetworksGiveEqualBytes) {
  const Network network = filled_network(exact_nir_cases().front().spec);
  EXPECT_EQ(format_nir(to_nir(network, {}, {}).graph), format_nir(to_nir(network, {}, {}).graph));
}

}  // namespace
}  // namespace bntt
