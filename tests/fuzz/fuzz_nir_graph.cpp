#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/check.h"
#include "bntt/error.h"
#include "bntt/session.h"
#include "exchange/nir_import.h"

// fuzz_nir rarely gets past libhdf5. Here every three bytes change a graph that can be read: types,
// shapes, numbers, edges and metadata. Whatever is not refused must run.
namespace {

using bntt::nir_constant;
using bntt::nir_integers;
using bntt::NirArray;
using bntt::NirGraph;
using bntt::NirNode;

constexpr std::array kTypes = {"Input", "Output",  "Conv2d", "Affine",    "Linear",
                               "Scale", "Flatten", "Delay",  "SumPool2d", "AvgPool2d",
                               "IF",    "LIF",     "LI",     "CubaLIF"};
constexpr std::array<int64_t, 12> kIntegers = {
    0, 1, 2, 3, 4, 5, 8, 27, -1, -2, int64_t{1} << 40, std::numeric_limits<int64_t>::min()};
constexpr std::array<int64_t, 10> kExtents = {1, 2, 3, 4, 5, 6, 8, 27, 100, 5000};
constexpr std::array kNumbers = {0.0F,  1.0F,  -1.0F, 0.5F,  2.0F, 1e-4F,
                                 2e-4F, 1e-3F, 1e4F,  1e30F, 3.0F, -1e30F};

NirNode neurons(const char* name, const char* type, const std::vector<int64_t>& shape) {
  NirNode node{.name = name, .type = type};
  for (const char* time : {"tau", "tau_mem"}) node.arrays[time] = nir_constant(shape, 1e-3F);
  node.arrays["tau_syn"] = nir_constant(shape, 1e-4F);
  for (const char* one : {"r", "v_threshold"}) node.arrays[one] = nir_constant(shape, 1.0F);
  for (const char* zero : {"v_leak", "v_reset"}) node.arrays[zero] = nir_constant(shape, 0.0F);
  return node;
}

NirNode convolution(const char* name, const std::vector<int64_t>& weights, int64_t groups) {
  return {.name = name,
          .type = "Conv2d",
          .arrays = {{"weight", nir_constant(weights, 0.5F)},
                     {"bias", nir_constant({weights[0]}, 0.25F)},
                     {"stride", nir_integers({1, 1})},
                     {"padding", nir_integers({1, 1})},
                     {"dilation", nir_integers({1, 1})},
                     {"groups", nir_integers({groups})}}};
}

NirNode pool(const char* name, const char* type) {
  return {.name = name,
          .type = type,
          .arrays = {{"kernel_size", nir_integers({2, 2})},
                     {"stride", nir_integers({2, 2})},
                     {"padding", nir_integers({0, 0})}}};
}

/// in 2x6x6 → conv → lif → pool → conv2 (a shortcut beside it) → if → flat → fc → li → out
NirGraph whole_graph() {
  NirGraph graph{.version = "1.0.8"};
  graph.nodes = {
      {.name = "in", .type = "Input", .arrays = {{"shape", nir_integers({2, 6, 6})}}},
      convolution("conv", {4, 2, 3, 3}, 1),
      neurons("lif", "LIF", {4, 6, 6}),
      pool("pool", "SumPool2d"),
      convolution("conv2", {4, 2, 3, 3}, 2),
      {.name = "scale", .type = "Scale", .arrays = {{"scale", nir_constant({4, 3, 3}, 2.0F)}}},
      neurons("if", "IF", {4, 3, 3}),
      {.name = "flat", .type = "Flatten", .arrays = {{"start_dim", nir_integers({0})}}},
      {.name = "fc",
       .type = "Affine",
       .arrays = {{"weight", nir_constant({3, 36}, 0.1F)}, {"bias", nir_constant({3}, 0.5F)}}},
      neurons("li", "LI", {3}),
      {.name = "out", .type = "Output", .arrays = {{"shape", nir_integers({3})}}}};
  graph.edges = {{"in", "conv"},    {"conv", "lif"}, {"lif", "pool"}, {"pool", "conv2"},
                 {"pool", "scale"}, {"conv2", "if"}, {"scale", "if"}, {"if", "flat"},
                 {"flat", "fc"},    {"fc", "li"},    {"li", "out"}};
  return graph;
}

template <typename List>
auto& chosen(List& list, uint8_t byte) {
  return *std::next(list.begin(), byte % static_cast<std::ptrdiff_t>(std::size(list)));
}

NirArray reshaped(uint8_t choice, float value) {
  std::vector<int64_t> shape(choice % 5);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    shape[i] = chosen(kExtents, static_cast<uint8_t>(choice / 5 + 3 * i));
  }
  return nir_constant(std::move(shape), value);
}

void change(NirGraph& graph, uint8_t what, uint8_t where, uint8_t choice) {
  NirNode& node = chosen(graph.nodes, where);
  const bool has_numbers = !node.arrays.empty();
  switch (what % 10) {
    case 0:
      node.type = chosen(kTypes, choice);
      break;
    case 1:
      if (has_numbers) chosen(node.arrays, choice).second = reshaped(where, 0.5F);
      break;
    case 2:
      if (has_numbers) {
        chosen(node.arrays, choice).second =
            nir_integers({chosen(kIntegers, where), chosen(kIntegers, what / 10)});
      }
      break;
    case 3:
      if (has_numbers)
        node.arrays.erase(std::next(node.arrays.begin(), choice % std::ssize(node.arrays)));
      break;
    case 4:
      graph.edges.emplace_back(node.name, chosen(graph.nodes, choice).name);
      break;
    case 5:
      if (!graph.edges.empty())
        graph.edges.erase(graph.edges.begin() + choice % std::ssize(graph.edges));
      break;
    case 6:
      for (const char* name : {"dt", "steps", "votes", "divide_by_steps"}) {
        if (name[0] % 4 == where % 4)
          graph.metadata.arrays[name] = nir_constant({}, chosen(kNumbers, choice));
      }
      break;
    case 7:
      node.arrays.erase("padding");
      node.texts["padding"] = choice % 2 == 0 ? "same" : choice % 3 == 0 ? "valid" : "other";
      break;
    case 8:
      if (has_numbers) chosen(node.arrays, choice).second.values = {chosen(kNumbers, what / 10)};
      break;
    default:
      node.name = chosen(graph.nodes, choice).name;
  }
}

void run(const bntt::Network& network) {
  int64_t work = 0;
  for (const bntt::StagePlan& plan : network.stages()) work += plan.macs + plan.output.size();
  if (work > 1 << 20) return;
  const bntt::MapShape& shape = network.spec().input;
  const int64_t steps = std::min<int64_t>(2, network.spec().steps);
  bntt::DenseTrain input{.steps = steps,
                         .batch = 1,
                         .shape = shape,
                         .values = bntt::Buffer<float>(steps * shape.size())};
  for (int64_t i = 0; i < input.values.size(); ++i) input.values[i] = static_cast<float>(i % 3);
  bntt::Session session(network, 1);
  session.advance(input);
  BNTT_CHECK(session.logits().size() == bntt::classes_of(network.spec()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  NirGraph graph = whole_graph();
  for (std::size_t i = 0; i + 2 < size && i < 300; i += 3) {
    change(graph, data[i], data[i + 1], data[i + 2]);
  }
  try {
    run(bntt::from_nir(graph, "fuzz", {.steps = size % 2 == 0 ? 2 : 0}).network);
  } catch (const bntt::Error&) {
    BNTT_CHECK(size > 0);  // the graph itself is accepted
  }
  return 0;
}
