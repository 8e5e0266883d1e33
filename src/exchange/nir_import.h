#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bntt/model.h"
#include "exchange/nir_graph.h"

namespace bntt {

/// What a NIR file does not say, or may say in its metadata.
struct NirImportOptions {
  std::optional<double> dt;    ///< seconds per step; default: the file's metadata, else 1e-4
  std::optional<Reset> reset;  ///< default: the file's metadata, else hard, as NIR defines it
  int64_t steps = 0;           ///< 0: as the metadata say
  bool as_others = false;  ///< no exact network from the metadata, but the graph that others see
};

struct NirImport {
  Network network;
  std::vector<std::string> notes;  ///< a line for each layer of neurons: its leak and reset
};

/// Throws Error, beginning with `origin` and naming the node, for what it cannot run: cycles,
/// delays, dangling edges, shapes that do not fit, parameters that differ within a node, v_reset
/// other than 0. A final spiking layer is read by its spike counts, another signal by its mean over
/// the steps.
NirImport from_nir(const NirGraph& graph, const std::string& origin,
                   const NirImportOptions& options = {});

}  // namespace bntt
