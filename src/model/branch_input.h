#pragma once

#include <optional>
#include <vector>

#include "bntt/network_spec.h"
#include "bntt/signal.h"
#include "kernels/unpack.h"
#include "model/gradient_buffer.h"

namespace bntt {

/// The input of a branch's synapse: the sum of its sources, after its max pool. If there is nothing
/// to compute it refers to the source, so the sources must outlive it.
class BranchInput {
 public:
  BranchInput(const BranchPlan& plan, const std::vector<const Signal*>& sources);

  const Signal& signal() const { return own_ ? *own_ : *source_; }

 private:
  const Signal* source_ = nullptr;
  std::optional<Signal> own_;
};

/// The gradient of a stage's output, [step, batch, y, x, channel] after `pool`: pooled gradients
/// are spread over their windows only when they are read.
struct ArrivingGradient {
  GradientBuffer values;
  kernels::PooledMap pool;

  bool empty() const { return values.empty(); }
};

/// Turns the gradient of a branch's pooled input into that of its sources; a max pool needs the
/// source that it pooled.
ArrivingGradient at_source(const BranchPlan& plan, const Signal& source, GradientBuffer gradient);

/// Adds the gradient from another reader.
void add_gradient(ArrivingGradient& sum, ArrivingGradient more);

/// The gradient of every pixel of the map, as floats.
Buffer<float> unpooled(ArrivingGradient gradient);

}  // namespace bntt
