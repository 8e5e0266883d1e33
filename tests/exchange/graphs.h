#pragma once

#include "exchange/nir_graph.h"

namespace bntt::testing {

inline NirArray floats(std::vector<int64_t> shape, std::vector<float> values) {
  return {.shape = std::move(shape), .values = std::move(values), .integers = {}};
}

inline NirNode lif_node(const std::string& name, std::vector<int64_t> shape, float tau = 1e-3F) {
  return {.name = name,
          .type = "LIF",
          .arrays = {{"tau", nir_constant(shape, tau)},
                     {"r", nir_constant(shape, 1.0F)},
                     {"v_leak", nir_constant(shape, 0.0F)},
                     {"v_threshold", nir_constant(shape, 0.5F)},
                     {"v_reset", nir_constant(shape, 0.0F)}},
          .texts = {},
          .metadata = {}};
}

/// input [2] → fc → lif [3] → output, with weights 1 to 6.
inline NirGraph small_graph() {
  NirGraph graph{.version = "1.0.8"};
  graph.nodes = {{.name = "input", .type = "Input", .arrays = {{"shape", nir_integers({2})}}},
                 {.name = "fc",
                  .type = "Affine",
                  .arrays = {{"weight", floats({3, 2}, {1, 2, 3, 4, 5, 6})},
                             {"bias", floats({3}, {0.5F, 0, -0.5F})}}},
                 lif_node("lif", {3}),
                 {.name = "output", .type = "Output", .arrays = {{"shape", nir_integers({3})}}}};
  graph.edges = {{"input", "fc"}, {"fc", "lif"}, {"lif", "output"}};
  return graph;
}

}  // namespace bntt::testing
