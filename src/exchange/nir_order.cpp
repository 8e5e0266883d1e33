#include "exchange/nir_order.h"

#include <algorithm>
#include <map>

#include "base/fail.h"
#include "base/text.h"

namespace bntt {
namespace {

using Neighbours = std::vector<std::vector<std::size_t>>;

std::size_t only_node(const NirGraph& graph, const char* type, const std::string& origin) {
  const auto is_one = [&](const NirNode& node) { return node.type == type; };
  const auto count = std::ranges::count_if(graph.nodes, is_one);
  if (count != 1) fail("{}: has {} nodes of type {}, expected exactly 1", origin, count, type);
  return static_cast<std::size_t>(std::ranges::find_if(graph.nodes, is_one) - graph.nodes.begin());
}

std::vector<bool> reachable(std::size_t start, const Neighbours& next) {
  std::vector<bool> reached(next.size(), false);
  std::vector<std::size_t> open = {start};
  reached[start] = true;
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    for (const std::size_t neighbour : next[node]) {
      if (reached[neighbour]) continue;
      reached[neighbour] = true;
      open.push_back(neighbour);
    }
  }
  return reached;
}

/// A node that still waits is in a cycle or after one; a node in a cycle reaches itself.
[[noreturn]] void refuse_cycle(const NirGraph& graph, const Neighbours& readers,
                               const std::vector<std::size_t>& waiting_for,
                               const std::string& origin) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (waiting_for[i] == 0) continue;
    for (const std::size_t reader : readers[i]) {
      if (!reachable(reader, readers)[i]) continue;
      fail("{}: node '{}' is part of a cycle, and bntt has no recurrent connections", origin,
           excerpt(graph.nodes[i].name));
    }
  }
  fail("{}: its nodes form a cycle", origin);
}

}  // namespace

NirOrder nir_order(const NirGraph& graph, const std::string& origin) {
  const std::size_t count = graph.nodes.size();
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < count; ++i) places[graph.nodes[i].name] = i;
  NirOrder order{.nodes = {}, .sources = Neighbours(count)};
  Neighbours readers(count);
  for (const auto& [from, to] : graph.edges) {
    for (const std::string& end : {from, to}) {
      if (!places.contains(end)) {
        fail("{}: an edge joins '{}' and '{}', but there is no node '{}'", origin, excerpt(from),
             excerpt(to), excerpt(end));
      }
    }
    std::vector<std::size_t>& sources = order.sources[places[to]];
    // Edges form a set: a repeated edge carries its signal once.
    if (std::ranges::find(sources, places[from]) != sources.end()) continue;
    sources.push_back(places[from]);
    readers[places[from]].push_back(places[to]);
  }

  std::vector<std::size_t> waiting_for(count);
  for (std::size_t i = 0; i < count; ++i) {
    waiting_for[i] = order.sources[i].size();
    if (waiting_for[i] == 0) order.nodes.push_back(i);
  }
  for (std::size_t done = 0; done < order.nodes.size(); ++done) {
    for (const std::size_t reader : readers[order.nodes[done]]) {
      if (--waiting_for[reader] == 0) order.nodes.push_back(reader);
    }
  }
  if (order.nodes.size() < count) refuse_cycle(graph, readers, waiting_for, origin);

  const std::vector<bool> fed = reachable(only_node(graph, "Input", origin), readers);
  const std::vector<bool> read = reachable(only_node(graph, "Output", origin), order.sources);
  for (std::size_t i = 0; i < count; ++i) {
    if (!fed[i]) fail("{}: no input reaches node '{}'", origin, excerpt(graph.nodes[i].name));
    if (!read[i]) {
      fail("{}: node '{}' does not lead to an output", origin, excerpt(graph.nodes[i].name));
    }
  }
  return order;
}

}  // namespace bntt
