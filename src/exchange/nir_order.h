#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "exchange/nir_graph.h"

namespace bntt {

/// A graph without cycles, in an order in which every node comes after those it reads.
struct NirOrder {
  std::vector<std::size_t> nodes;                 ///< indices into the graph's nodes
  std::vector<std::vector<std::size_t>> sources;  ///< [node of the graph]: nodes whose sum it reads
};

/// Throws an Error that begins with `origin` and the name of the node: for a dangling edge, a
/// cycle, a node that nothing reaches or that leads to no output, and unless there is exactly one
/// input and one output.
NirOrder nir_order(const NirGraph& graph, const std::string& origin);

}  // namespace bntt
