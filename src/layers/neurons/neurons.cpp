#include "layers/neurons/neurons.h"

#include "base/kinds.h"
#include "layers/neurons/accumulator.h"
#include "layers/neurons/identity_neurons.h"
#include "layers/neurons/relu.h"
#include "layers/neurons/spiking_neurons.h"

namespace bntt {

// Neurons that only the table refers to have no header.
std::unique_ptr<Neurons> make_lee(const StagePlan& plan, Propagation propagation);
std::unique_ptr<Neurons> make_lee_if(const StagePlan& plan, Propagation propagation);
std::unique_ptr<Neurons> make_neunorm(const StagePlan& plan, Propagation propagation);
std::unique_ptr<Neurons> make_plif(const StagePlan& plan, Propagation propagation);

namespace {

template <typename Kind>
std::unique_ptr<Neurons> make(const StagePlan& plan, Propagation propagation) {
  return std::make_unique<Kind>(plan, propagation);
}

std::unique_ptr<Neurons> make_without_leak(const StagePlan& plan, Propagation propagation) {
  StagePlan keeping = plan;
  keeping.neuron.leak = 1.0F;
  return std::make_unique<SpikingNeurons>(keeping, propagation);
}

constexpr NeuronEntry kNeurons[] = {
    {"lif", "leaky integrate-and-fire (the paper's)", make<SpikingNeurons>},
    {"if", "integrate-and-fire: no leak", make_without_leak},
    {"relu", "ReLU units of an ANN: one step, real values", make<Relu>},
    {"plif", "leaky integrate-and-fire whose leak is learned, one per stage", make_plif},
    {"lee",
     "leaky integrate-and-fire; every current gets the gradient of the next spike (Lee 2020)",
     make_lee},
    {"lee-if", "the same without leak, as in Lee's pools", make_lee_if},
    {"neunorm", "lif whose output is normalised by the spikes of its pixel (NeuNorm): real values",
     make_neunorm},
    {"none", "pass their current on as real values", make<IdentityNeurons>},
};

}  // namespace

std::span<const NeuronEntry> neuron_table() { return kNeurons; }

std::unique_ptr<Neurons> make_neurons(const StagePlan& plan, Propagation propagation) {
  if (plan.readout) return std::make_unique<Accumulator>(plan);
  return find_kind<NeuronEntry>("neuron", plan.neuron.kind, kNeurons).make(plan, propagation);
}

}  // namespace bntt
