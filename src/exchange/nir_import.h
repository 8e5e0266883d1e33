#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bntt/model.h"
#include "exchange/nir_graph.h"

namespace bntt {

/// What a NIR file does not contain, or may contain in its metadata.
struct NirImportOptions {
  std::optional<double> dt;    ///< seconds per step; default: the file's metadata, else 1e-4
  std::optional<Reset> reset;  ///< default: the file's metadata, else hard, as NIR defines it
  int64_t steps = 0;           ///< 0: as in the metadata
  bool as_others = false;      ///< read the graph that other tools see, not the exact network
};

struct NirImport {
  Network network;
  std::vector<std::string> notes;  ///< one line per layer of neurons: its leak and reset
};

/// Throws an Error that begins with `origin` and names the node for anything it cannot run: cycles,
/// delays, dangling edges, shapes that do not fit, parameters that differ within a node, v_reset
/// other than 0. A final spiking layer is read as spike counts, any other signal as its mean over
/// the steps.
NirImport from_nir(const NirGraph& graph, const std::string& origin,
                   const NirImportOptions& options = {});

}  // namespace bntt
