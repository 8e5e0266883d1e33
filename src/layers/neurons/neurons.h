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

/// The input of the neurons over a window of steps: y = scale · x + shift.
struct NeuronInput {
  kernels::NeuronShape shape;
  kernels::Affine affine;
  kernels::Currents currents;
};

/// The neurons of a stage: map normalised current to output, step by step. `parameters` are their
/// own, in the order in which they are declared.
class Neurons {
 public:
  virtual ~Neurons() = default;

  virtual std::vector<ParameterDeclaration> parameters() const { return {}; }

  /// ∂v/∂y: the factor of the input. It is folded into the affine map passed to the neurons.
  virtual float input_factor(std::span<const Parameter> /*parameters*/) const { return 1.0F; }
  /// Empty for neurons that do not spike.
  virtual std::optional<kernels::Dynamics> dynamics(
      std::span<const Parameter> /*parameters*/) const {
    return std::nullopt;
  }
  /// Floats of state per image. By default its membranes [y, x, channel].
  virtual int64_t state_size(const MapShape& map) const { return map.size(); }

  /// Runs the window; `carry` [batch, state] is the state before and after it.
  virtual Signal forward(const NeuronInput& input, std::span<const Parameter> parameters,
                         float* carry) const = 0;

  /// Whether backward() takes gradients in bf16; otherwise it takes floats alone.
  virtual bool takes_half_gradients() const { return false; }
  /// Writes ∂L/∂v [step, batch, y, x, channel], which is ∂L/∂y without the input factor, fills the
  /// sums of every row, and adds to the gradients of the parameters. `gradient` has the number
  /// format of `arriving`.
  virtual void backward(const NeuronInput& input, const kernels::SpikeGradient& arriving,
                        std::span<Parameter> parameters, kernels::GradientPlace gradient,
                        RowGradientSums& sums) const = 0;
};

using MakeNeurons = std::unique_ptr<Neurons> (*)(const StagePlan& plan, Propagation propagation);
struct NeuronEntry {
  const char* name;
  const char* meaning;
  MakeNeurons make;
};
/// All kinds of neurons. Parsing, help texts and the tests' lists use this table.
std::span<const NeuronEntry> neuron_table();

/// Throws Error for an unknown kind and suggests the nearest known one.
std::unique_ptr<Neurons> make_neurons(const StagePlan& plan, Propagation propagation);

}  // namespace bntt
