#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "bntt/session.h"
#include "exchange/nir_import.h"
#include "graphs.h"
#include "message.h"
#include "nir_networks.h"

namespace bntt {
namespace {

using ::testing::AllOf;
using testing::floats;
using ::testing::HasSubstr;
using testing::lif_node;
using testing::message_of;
using testing::small_graph;

NirNode* find(NirGraph& graph, const std::string& name) {
  for (NirNode& node : graph.nodes) {
    if (node.name == name) return &node;
  }
  return nullptr;
}

std::string refusal(const NirGraph& graph, const NirImportOptions& options = {.steps = 5}) {
  return message_of([&] { from_nir(graph, "net.nir", options); });
}

DenseTrain constant_input(const MapShape& shape, int64_t steps, const std::vector<float>& values) {
  DenseTrain input{
      .steps = steps, .batch = 1, .shape = shape, .values = Buffer<float>(steps * shape.size())};
  for (int64_t i = 0; i < input.values.size(); ++i) input.values[i] = values[i % values.size()];
  return input;
}

TEST(NirImport, LeakyNeuronsFollowForwardEuler) {
  NirGraph graph = small_graph();
  find(graph, "lif")->arrays["v_threshold"] = nir_constant({3}, 100.0F);
  find(graph, "lif")->arrays["v_leak"] = nir_constant({3}, 2.0F);
  find(graph, "lif")->arrays["r"] = nir_constant({3}, 3.0F);
  const Network network = from_nir(graph, "net.nir", {.dt = 1e-4, .steps = 4}).network;
  Session session(network, 1);
  const DenseTrain input = constant_input({2, 1, 1}, 4, {1.0F, -1.0F});
  double voltage[3] = {0, 0, 0};
  for (int64_t step = 0; step < 4; ++step) {
    session.advance(slice_steps(input, step, 1));
    const Buffer<float> membranes = session.membranes("lif");
    for (int64_t i = 0; i < 3; ++i) {
      const double current = -1.0 + 0.5 - 0.5 * static_cast<double>(i);
      voltage[i] += 0.1 * (2.0 - voltage[i] + 3.0 * current);
      EXPECT_NEAR(membranes[i], voltage[i], 1e-6) << step;
    }
  }
  EXPECT_THAT(message_of([&] { session.membranes("lif2"); }), HasSubstr("'lif2'"));
}

TEST(NirImport, FinalSpikesAreCounted) {
  const Network network = from_nir(small_graph(), "net.nir", {.steps = 7}).network;
  const auto run = testing::run_network(network, constant_input({2, 1, 1}, 7, {1.0F, 1.0F}));
  const auto& spikes = std::get<SpikeTrain>(run.outputs.front());
  for (int64_t k = 0; k < 3; ++k) {
    float count = 0.0F;
    for (int64_t step = 0; step < 7; ++step) count += spikes.value(step, 0, 0, 0, k);
    EXPECT_EQ(run.logits[k], count);
    EXPECT_GT(count, 0.0F);
  }
}

TEST(NirImport, ResetIsHardUnlessTheFileOrTheUserSaysOtherwise) {
  NirGraph graph = small_graph();
  const auto reset = [&](const NirImportOptions& options) {
    return from_nir(graph, "net.nir", options).network.stages().front().neuron.reset;
  };
  EXPECT_EQ(reset({.steps = 1}), Reset::hard);
  EXPECT_EQ(reset({.reset = Reset::soft, .steps = 1}), Reset::soft);
  graph.metadata.texts["reset"] = "subtract";
  EXPECT_EQ(reset({.steps = 1}), Reset::soft);
  EXPECT_EQ(reset({.reset = Reset::hard, .steps = 1}), Reset::hard);
}

TEST(NirImport, EveryKindOfNodeTakesPart) {
  // input 2x4x4 → Conv2d in two groups → AvgPool2d → Scale → CubaLIF → SumPool2d → Flatten →
  // Linear → LI → output, nodes and edges in no order.
  const double dt = 1e-4;
  NirGraph graph{.version = "1.0.8"};
  graph.nodes = {
      {.name = "out", .type = "Output", .arrays = {{"shape", nir_integers({1, 2})}}},
      {.name = "li",
       .type = "LI",
       .arrays = {{"tau", nir_constant({2}, 2e-4F)},
                  {"r", nir_constant({2}, 4.0F)},
                  {"v_leak", nir_constant({2}, 1.0F)}}},
      {.name = "fc",
       .type = "Linear",
       .arrays = {{"weight", floats({2, 4}, {1, 0, 2, 0, 0, 1, 0, 3})}}},
      {.name = "flat", .type = "Flatten", .arrays = {{"start_dim", nir_integers({0})}}},
      {.name = "sum",
       .type = "SumPool2d",
       .arrays = {{"kernel_size", nir_integers({2, 2})}, {"stride", nir_integers({2, 2})}}},
      {.name = "cuba",
       .type = "CubaLIF",
       .arrays = {{"tau_syn", nir_constant({4, 2, 2}, 1e-4F)},
                  {"tau_mem", nir_constant({4, 2, 2}, 2e-4F)},
                  {"r", nir_constant({4, 2, 2}, 2.0F)},
                  {"w_in", nir_constant({4, 2, 2}, 0.5F)},
                  {"v_leak", nir_constant({4, 2, 2}, 0.0F)},
                  {"v_threshold", nir_constant({4, 2, 2}, 1.0F)}}},
      {.name = "scale",
       .type = "Scale",
       .arrays = {{"scale", floats({4, 2, 2}, {2, 2, 2, 2, 4, 4, 4, 4, 1, 1, 1, 1, 8, 8, 8, 8})}}},
      {.name = "avg",
       .type = "AvgPool2d",
       .arrays = {{"kernel_size", nir_integers({2, 2})}, {"stride", nir_integers({2, 2})}}},
      {.name = "conv",
       .type = "Conv2d",
       .arrays = {{"weight", floats({4, 1, 1, 1}, {1, 2, 3, 4})},
                  {"bias", floats({4}, {0, 0, 0, 0.25F})},
                  {"stride", nir_integers({1, 1})},
                  {"dilation", nir_integers({1, 1})},
                  {"groups", nir_integers({2})}},
       .texts = {{"padding", "same"}}},
      {.name = "in", .type = "Input", .arrays = {{"shape", nir_integers({1, 2, 4, 4})}}}};
  graph.edges = {{"li", "out"},   {"fc", "li"},      {"flat", "fc"},   {"sum", "flat"},
                 {"cuba", "sum"}, {"scale", "cuba"}, {"avg", "scale"}, {"conv", "avg"},
                 {"in", "conv"},  {"in", "conv"}};
  const Network network = from_nir(graph, "net.nir", {.dt = dt, .steps = 3}).network;
  // Everything is one in the first channel of the input and a half in the second.
  DenseTrain input = constant_input({2, 4, 4}, 3, {1.0F, 0.5F});
  Session session(network, 1);
  double u[4] = {0, 0, 0, 0};
  double v[2] = {0, 0};
  const double current[4] = {2.0 * 1.0, 4.0 * 2.0, 1.0 * 1.5, 8.0 * (2.0 + 0.25)};
  for (int64_t step = 0; step < 3; ++step) {
    session.advance(slice_steps(input, step, 1));
    double spikes[4];
    for (int c = 0; c < 4; ++c) {
      u[c] += 0.5 * (2.0 * 0.5 * current[c] - u[c]);
      spikes[c] = u[c] > 1.0 ? 1.0 : 0.0;
      if (spikes[c] > 0) u[c] = 0.0;
    }
    const double drive[2] = {4.0 * spikes[0] + 2.0 * 4.0 * spikes[2],
                             4.0 * spikes[1] + 3.0 * 4.0 * spikes[3]};
    for (int k = 0; k < 2; ++k) v[k] += 0.5 * (1.0 - v[k] + 4.0 * drive[k]);
    const Buffer<float> logits = session.logits();
    for (int k = 0; k < 2; ++k) EXPECT_NEAR(logits[k], v[k], 1e-5) << step << " " << k;
  }
}

TEST(NirImport, DilatedKernelsAreSpread) {
  NirGraph graph{.version = "1.0.8"};
  graph.nodes = {{.name = "in", .type = "Input", .arrays = {{"shape", nir_integers({1, 5, 5})}}},
                 {.name = "conv",
                  .type = "Conv2d",
                  .arrays = {{"weight", floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})},
                             {"bias", floats({1}, {0.5F})},
                             {"stride", nir_integers({1, 1})},
                             {"padding", nir_integers({0, 0})},
                             {"dilation", nir_integers({2, 2})},
                             {"groups", nir_integers({1})}}},
                 {.name = "out", .type = "Output", .arrays = {{"shape", nir_integers({1, 1, 1})}}}};
  graph.edges = {{"in", "conv"}, {"conv", "out"}};
  std::vector<float> pixels(25);
  std::iota(pixels.begin(), pixels.end(), 0.0F);
  const Network network = from_nir(graph, "net.nir", {.steps = 2}).network;
  const auto run = testing::run_network(network, constant_input({1, 5, 5}, 2, pixels));
  float expected = 0.5F;
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 3; ++x) {
      expected += static_cast<float>((3 * y + x + 1) * (5 * 2 * y + 2 * x));
    }
  }
  EXPECT_EQ(run.logits[0], expected);

  find(graph, "conv")->arrays["dilation"] = nir_integers({40, 40});
  EXPECT_EQ(
      refusal(graph),
      "net.nir: node 'conv' (Conv2d) has a kernel of 3 pixels and dilation 40, which together "
      "cover more than 63");
}

TEST(NirImport, SeveralEdgesIntoANodeAddUp) {
  NirGraph graph = small_graph();
  // fc → lif and fc → lif2; both feed fc2, whose weights see the sum.
  graph.nodes.push_back(lif_node("lif2", {3}, 2e-3F));
  graph.nodes.push_back({.name = "fc2",
                         .type = "Linear",
                         .arrays = {{"weight", floats({2, 3}, {1, 2, 3, 4, 5, 6})}}});
  find(graph, "output")->arrays["shape"] = nir_integers({2});
  graph.edges = {{"input", "fc"}, {"fc", "lif"},   {"fc", "lif2"},
                 {"lif", "fc2"},  {"lif2", "fc2"}, {"fc2", "output"}};
  const Network network = from_nir(graph, "net.nir", {.steps = 6}).network;
  const auto run = testing::run_network(network, constant_input({2, 1, 1}, 6, {0.2F, 0.1F}));
  double expected[2] = {0, 0};
  double spikes_seen = 0.0;
  for (int64_t step = 0; step < 6; ++step) {
    for (int64_t i = 0; i < 3; ++i) {
      double sum = 0.0;
      for (std::size_t stage = 0; stage + 1 < run.outputs.size(); ++stage) {
        const auto* spikes = std::get_if<SpikeTrain>(&run.outputs[stage]);
        if (spikes != nullptr) sum += spikes->value(step, 0, 0, 0, i);
      }
      spikes_seen += sum;
      expected[0] += static_cast<double>(1 + i) * sum / 6.0;
      expected[1] += static_cast<double>(4 + i) * sum / 6.0;
    }
  }
  EXPECT_GT(spikes_seen, 0.0);
  EXPECT_NEAR(run.logits[0], expected[0], 1e-5);
  EXPECT_NEAR(run.logits[1], expected[1], 1e-5);
}

TEST(NirImport, IntegratorsTakeTheirGainWithOrWithoutTheStep) {
  NirGraph graph = small_graph();
  NirNode& node = *find(graph, "lif");
  node.type = "IF";
  node.arrays.erase("tau");
  node.arrays.erase("v_leak");
  node.arrays["v_threshold"] = nir_constant({3}, 100.0F);
  for (const float r : {1.0F, 1e4F}) {
    node.arrays["r"] = nir_constant({3}, r);
    const Network network = from_nir(graph, "net.nir", {.steps = 2}).network;
    Session session(network, 1);
    session.advance(constant_input({2, 1, 1}, 2, {1.0F, 0.0F}));
    EXPECT_FLOAT_EQ(session.membranes("lif")[1], 6.0F) << r;
  }
}

TEST(NirImport, WhatCannotRunIsRefusedByTheNodesName) {
  struct Case {
    std::string node;
    std::string what;
    void (*change)(NirGraph&);
  };
  const std::vector<Case> cases = {
      {"lif", "differ from neuron to neuron",
       [](NirGraph& g) {
         find(g, "lif")->arrays["tau"] = floats({3}, {1e-3F, 1e-3F, 2e-3F});
       }},
      {"lif", "resets to a voltage other than 0",
       [](NirGraph& g) { find(g, "lif")->arrays["v_reset"] = nir_constant({3}, -0.1F); }},
      {"lif", "time constant",
       [](NirGraph& g) { find(g, "lif")->arrays["tau"] = nir_constant({3}, 1e-5F); }},
      {"lif", "threshold",
       [](NirGraph& g) { find(g, "lif")->arrays["v_threshold"] = nir_constant({3}, 0.0F); }},
      {"lif", "'tau' of shape [4], but [3] arrives",
       [](NirGraph& g) { find(g, "lif")->arrays["tau"] = nir_constant({4}, 1e-3F); }},
      {"lif", "has no numbers 'r'", [](NirGraph& g) { find(g, "lif")->arrays.erase("r"); }},
      {"fc", "takes 3 inputs, but [2] arrive",
       [](NirGraph& g) {
         find(g, "fc")->arrays["weight"] = nir_constant({3, 3}, 1.0F);
       }},
      {"fc", "has 2 biases, expected 3",
       [](NirGraph& g) { find(g, "fc")->arrays["bias"] = nir_constant({2}, 1.0F); }},
      {"fc", "is of a type that bntt does not support",
       [](NirGraph& g) { find(g, "fc")->type = "Delay"; }},
      {"fc", "is of a type that bntt does not support",
       [](NirGraph& g) { find(g, "fc")->type = "NIRGraph"; }},
      {"fc", "reads a flat layer",
       [](NirGraph& g) {
         find(g, "fc")->type = "Conv2d";
         find(g, "fc")->arrays["weight"] = nir_constant({3, 2, 1, 1}, 1.0F);
       }},
      {"lif", "tau_syn",
       [](NirGraph& g) {
         find(g, "lif")->type = "CubaLIF";
         find(g, "lif")->arrays["tau_mem"] = nir_constant({3}, 1e-3F);
         find(g, "lif")->arrays["tau_syn"] = nir_constant({3}, 1e-3F);
       }},
      {"li", "is not the last node",
       [](NirGraph& g) {
         find(g, "lif")->name = "spikes";
         g.nodes.push_back(lif_node("li", {3}));
         g.nodes.back().type = "LI";
         g.edges = {{"input", "fc"}, {"fc", "li"}, {"li", "spikes"}, {"spikes", "output"}};
       }},
      {"fc", "is part of a cycle",
       [](NirGraph& g) {
         find(g, "fc")->arrays["weight"] = nir_constant({2, 2}, 1.0F);
         g.edges.emplace_back("lif", "fc");
       }},
      {"ghost", "there is no node 'ghost'",
       [](NirGraph& g) { g.edges.emplace_back("lif", "ghost"); }},
      {"lost", "does not lead to an output",
       [](NirGraph& g) {
         g.nodes.push_back(lif_node("lost", {3}));
         g.edges.emplace_back("fc", "lost");
       }},
      {"lost", "no input reaches node",
       [](NirGraph& g) { g.nodes.push_back(lif_node("lost", {3})); }},
      {"output", "has shape [4], but [3] arrives",
       [](NirGraph& g) { find(g, "output")->arrays["shape"] = nir_integers({4}); }},
      {"input", "has shape [2, 3]",
       [](NirGraph& g) {
         find(g, "input")->arrays["shape"] = nir_integers({2, 3});
       }},
  };
  for (const Case& each : cases) {
    NirGraph graph = small_graph();
    each.change(graph);
    EXPECT_THAT(refusal(graph), AllOf(HasSubstr("net.nir: "), HasSubstr("'" + each.node + "'"),
                                      HasSubstr(each.what)));
  }
  EXPECT_THAT(refusal(small_graph(), {}), HasSubstr("does not give a number of steps"));
}

}  // namespace
}  // namespace bntt
