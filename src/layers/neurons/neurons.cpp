#include "layers/neurons/neurons.h"

#include "layers/neurons/accumulator.h"
#include "layers/neurons/relu.h"
#include "layers/neurons/spiking.h"

namespace bntt {

std::unique_ptr<Neurons> make_neurons(const StagePlan& plan, Propagation propagation) {
  if (plan.readout) return std::make_unique<Accumulator>();
  if (plan.neuron.kind == NeuronKind::relu) return std::make_unique<Relu>(plan.output);
  return std::make_unique<Spiking>(plan, propagation);
}

}  // namespace bntt
