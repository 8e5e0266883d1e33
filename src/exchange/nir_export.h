#pragma once

#include "bntt/model.h"
#include "exchange/nir_graph.h"

namespace bntt {

struct NirExportOptions {
  double dt = 1e-4;  ///< seconds per step, from which τ = dt/(1 − λ) follows
  /// Write soft resets, which most readers treat as hard, and limits of the voltage.
  bool allow_lossy = false;
  bool mean_of_steps = false;  ///< write norms that change from step to step as their mean
};

struct NirExport {
  NirGraph graph;
  bool approximate = false;  ///< some norm is written as its mean; the metadata has the exact one
  bool soft_reset = false;
  bool clipped = false;  ///< some voltages have a lower limit
};

/// The network as a graph that readers can run without supporting norms: those with fixed numbers
/// are folded into weights and biases, τ = dt/(1 − λ), r = 1, weights and biases times 1/(1 − λ),
/// and average pools are sum pools with the next weights scaled. Throws an Error that begins with
/// the name of the stage for anything that NIR cannot express.
NirExport to_nir(const Network& network, const ModelCard& card, const NirExportOptions& options);

}  // namespace bntt
