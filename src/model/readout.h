#pragma once

#include "bntt/network_spec.h"
#include "bntt/signal.h"

namespace bntt {

/// Maps the readout's outputs to logits, and gradients back. The voltage of an output is m = λ m +
/// y over the steps, where y is its current in a step, or m = λ (m + y) with Readout::leak_newest;
/// the logit of a class is the mean of its `votes` adjacent outputs.
class ReadoutMap {
 public:
  explicit ReadoutMap(const NetworkSpec& spec);

  /// Voltages [batch, output] to logits [batch, class], divided by the steps if the spec says so.
  Buffer<float> logits(const Buffer<float>& voltages) const;
  /// Currents [step, batch, output] to the logits of each step on its own [step, batch, class].
  Buffer<float> step_logits(const Buffer<float>& currents) const;

  /// ∂L/∂y [step, batch, output] from the gradient of the logits [batch, class].
  Buffer<float> current_gradient(const Buffer<float>& logits_gradient, int64_t steps) const;
  /// The same from the gradient of each step's logits [step, batch, class].
  Buffer<float> current_gradient_of_steps(const Buffer<float>& step_gradient) const;

 private:
  /// Sums over the votes of a class, times `factor`, and the reverse.
  Buffer<float> collected(const Buffer<float>& outputs, float factor) const;
  Buffer<float> spread(const Buffer<float>& classes, float factor) const;

  int64_t votes_;
  float leak_of_gradient_;
  float last_leak_;  // factor of a voltage after its newest current
  float last_leak_of_gradient_;
  float scale_;
};

}  // namespace bntt
