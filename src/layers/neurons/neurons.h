#pragma once

#include <memory>

#include "base/check.h"
#include "bntt/network_spec.h"
#include "bntt/signal.h"
#include "kernels/neuron.h"
#include "layers/norms/norm.h"

namespace bntt {

/// The neurons of a stage, from normalised current to output, through time.
class Neurons {
 public:
  virtual ~Neurons() = default;

  /// Runs the window; `carry` [batch, y, x, channel] is the state before and after it.
  virtual Signal forward(const kernels::NeuronShape& shape, const kernels::Affine& affine,
                         const kernels::Currents& currents, float* carry) const = 0;

  /// Whether `step` is there: neurons that spike, and need nothing but their own current.
  virtual bool has_step() const { return false; }
  /// One step of some neurons.
  virtual void step(const kernels::NeuronRow& /*row*/) const {
    BNTT_CHECK(!"these neurons have no step");
  }

  /// Writes ∂L/∂y [step, batch, y, x, channel] and fills the sums of every row.
  virtual void backward(const kernels::NeuronShape& shape, const kernels::Affine& affine,
                        const kernels::Currents& currents, const kernels::SpikeGradient& arriving,
                        float* norm_gradient, RowGradientSums& sums) const = 0;
};

std::unique_ptr<Neurons> make_neurons(const StagePlan& plan, Propagation propagation);

}  // namespace bntt
