#pragma once

#include <optional>
#include <vector>

#include "bntt/network_spec.h"
#include "bntt/signal.h"
#include "kernels/unpack.h"

namespace bntt {

/// What the synapse of a branch reads: its sources added up, behind its max pool. Refers to the
/// source where there is nothing to do, so the sources must outlive it.
class BranchInput {
 public:
  BranchInput(const BranchPlan& plan, const std::vector<const Signal*>& sources);

  const Signal& signal() const { return own_ ? *own_ : *source_; }

 private:
  const Signal* source_ = nullptr;
  std::optional<Signal> own_;
};

/// A gradient at the output of a stage, [step, batch, y, x, channel] behind `pool`: pooled
/// gradients are spread over their windows only where they are read.
struct ArrivingGradient {
  Buffer<float> values;
  kernels::PooledMap pool;

  bool empty() const { return values.empty(); }
};

/// The gradient at the pooled input of a branch as one at its sources; a max pool needs to see what
/// it pooled.
ArrivingGradient at_source(const BranchPlan& plan, const Signal& source, Buffer<float> gradient);

/// Adds a gradient from one more reader.
void add_gradient(ArrivingGradient& sum, ArrivingGradient more);

/// The gradient of every pixel of the map.
Buffer<float> unpooled(ArrivingGradient gradient);

}  // namespace bntt
