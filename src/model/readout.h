#pragma once

#include "bntt/network_spec.h"
#include "bntt/signal.h"

namespace bntt {

/// From what the readout's outputs say to logits, and back. The voltage of an output is m = λ m + y
/// over the steps, y its current of a step, or m = λ (m + y) with Readout::leak_newest; a class has
/// `votes` neighbouring outputs, whose mean counts.
class ReadoutMap {
 public:
  explicit ReadoutMap(const NetworkSpec& spec);

  /// Voltages [batch, output] to logits [batch, class], divided by the steps if the spec says so.
  Buffer<float> logits(const Buffer<float>& voltages) const;
  /// Currents [step, batch, output] to logits of every step alone [step, batch, class].
  Buffer<float> step_logits(const Buffer<float>& currents) const;

  /// ∂L/∂y [step, batch, output] of a gradient at the logits [batch, class].
  Buffer<float> current_gradient(const Buffer<float>& logits_gradient, int64_t steps) const;
  /// The same of a gradient at the logits of every step [step, batch, class].
  Buffer<float> current_gradient_of_steps(const Buffer<float>& step_gradient) const;

 private:
  /// Sums over the votes of a class, times `factor`; and back.
  Buffer<float> collected(const Buffer<float>& outputs, float factor) const;
  Buffer<float> spread(const Buffer<float>& classes, float factor) const;

  int64_t votes_;
  float leak_of_gradient_;
  float last_leak_;  // what a voltage loses after its newest current
  float last_leak_of_gradient_;
  float scale_;
};

}  // namespace bntt
