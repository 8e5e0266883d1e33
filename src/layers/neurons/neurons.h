#pragma once

#include <memory>
#include <optional>
#include <span>

#include "base/check.h"
#include "bntt/declaration.h"
#include "bntt/network_spec.h"
#include "bntt/norm.h"
#include "bntt/signal.h"
#include "kernels/neuron.h"

namespace bntt {

/// What arrives at the neurons over a window of steps: y = scale · x + shift.
struct NeuronInput {
  kernels::NeuronShape shape;
  kernels::Affine affine;
  kernels::Currents currents;
};

/// The neurons of a stage, from normalised current to output, through time. `parameters` are their
/// own, in the order in which they declare them.
class Neurons {
 public:
  virtual ~Neurons() = default;

  virtual std::vector<ParameterDeclaration> parameters() const { return {}; }

  /// ∂v/∂y: the factor of the input. It is folded into the affine map that the neurons are given.
  virtual float input_factor(std::span<const Parameter> /*parameters*/) const { return 1.0F; }
  /// Of neurons that spike.
  virtual std::optional<kernels::Dynamics> dynamics(
      std::span<const Parameter> /*parameters*/) const {
    return std::nullopt;
  }
  /// Floats of state of an image. Unless a kind says otherwise, its membranes [y, x, channel].
  virtual int64_t state_size(const MapShape& map) const { return map.size(); }

  /// Runs the window; `carry` [batch, state] is the state before and after it.
  virtual Signal forward(const NeuronInput& input, std::span<const Parameter> parameters,
                         float* carry) const = 0;

  /// Writes ∂L/∂v [step, batch, y, x, channel], which is ∂L/∂y but for the input factor, fills the
  /// sums of every row, and adds to the parameters' gradients.
  virtual void backward(const NeuronInput& input, const kernels::SpikeGradient& arriving,
                        std::span<Parameter> parameters, float* gradient,
                        RowGradientSums& sums) const = 0;
};

using MakeNeurons = std::unique_ptr<Neurons> (*)(const StagePlan& plan, Propagation propagation);
struct NeuronEntry {
  const char* name;
  const char* meaning;
  MakeNeurons make;
};
/// Every kind of neuron there is. Parsing, help texts and the tests' lists come from here.
std::span<const NeuronEntry> neuron_table();

/// Throws Error for an unknown kind, with the nearest known one.
std::unique_ptr<Neurons> make_neurons(const StagePlan& plan, Propagation propagation);

}  // namespace bntt
