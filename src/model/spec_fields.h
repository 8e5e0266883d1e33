#pragma once

#include "base/fields.h"
#include "bntt/network_spec.h"
#include "kernels/surrogates.h"
#include "model/spec_limits.h"

/// The names of the parts of a NetworkSpec in files.
namespace bntt {

constexpr auto enum_names(Fire) {
  return std::array{std::pair{Fire::gt, "gt"}, std::pair{Fire::ge, "ge"}};
}

constexpr auto enum_names(SynapseKind) {
  return std::array{std::pair{SynapseKind::conv, "conv"}, std::pair{SynapseKind::dense, "dense"},
                    std::pair{SynapseKind::identity, "identity"}};
}

constexpr auto enum_names(PoolKind) {
  return std::array{std::pair{PoolKind::average, "average"}, std::pair{PoolKind::sum, "sum"},
                    std::pair{PoolKind::max, "max"}};
}

constexpr auto enum_names(Reset) {
  return std::array{std::pair{Reset::soft, "soft"}, std::pair{Reset::hard, "hard"}};
}

constexpr auto enum_names(Propagation) {
  return std::array{std::pair{Propagation::instant, "instant"},
                    std::pair{Propagation::delayed, "delayed"}};
}

constexpr auto enum_names(Init) {
  return std::array{std::pair{Init::xavier, "xavier"}, std::pair{Init::he_fan_in, "he-fan-in"},
                    std::pair{Init::he_fan_out, "he-fan-out"}, std::pair{Init::vgg, "vgg"},
                    std::pair{Init::pytorch, "pytorch"}};
}

constexpr auto variant_names(const StageSpec&) {
  return std::array{"conv3x3", "dense",    "avg-pool", "readout",
                    "conv",    "sum-pool", "max-pool", "stage"};
}

// For neurons without a leak, threshold or surrogate, and for synapses that are not convolutions,
// these fields may hold any number: plan_stages checks them where they are used.

inline std::vector<std::string> names_of(const std::vector<KindInfo>& kinds) {
  std::vector<std::string> names;
  for (const KindInfo& kind : kinds) names.push_back(kind.name);
  return names;
}

template <class Visitor>
void visit_fields(Visitor& visit, MapShape& shape) {
  visit("channels", shape.channels, between(1, kMaxChannels));
  visit("height", shape.height, between(1, kMaxExtent));
  visit("width", shape.width, between(1, kMaxExtent));
}

template <class Visitor>
void visit_fields(Visitor& visit, NormSpec& norm) {
  visit.name("kind", norm.kind, names_of(norm_kinds()));
  visit("epsilon", norm.epsilon, above(0));
  visit("momentum", norm.momentum, above_up_to(0, 1));
  visit.optional("shift", norm.shift, NormSpec{}.shift);
  visit.optional("gain_start", norm.gain_start, NormSpec{}.gain_start);
  visit.optional("alpha", norm.alpha, NormSpec{}.alpha, at_least(0));
}

template <class Visitor>
void visit_fields(Visitor& visit, SurrogateSpec& surrogate) {
  visit("kind", surrogate.kind);
  visit("alpha", surrogate.alpha);
  visit.optional("width", surrogate.width, SurrogateSpec{}.width);
  visit.optional("per_threshold", surrogate.per_threshold, SurrogateSpec{}.per_threshold);
  visit.optional("decay", surrogate.decay, SurrogateSpec{}.decay);
}

template <class Visitor>
void visit_fields(Visitor& visit, NeuronSpec& neuron) {
  visit.name("kind", neuron.kind, names_of(neuron_kinds()));
  visit("leak", neuron.leak);
  visit("threshold", neuron.threshold);
  visit.optional("fire", neuron.fire, NeuronSpec{}.fire);
  visit("reset", neuron.reset);
  visit("detach_reset", neuron.detach_reset);
  visit("floor", neuron.floor);
  visit("surrogate", neuron.surrogate);
  visit.optional("neunorm_decay", neuron.neunorm_decay, NeuronSpec{}.neunorm_decay);
  visit.optional("dropout", neuron.dropout, NeuronSpec{}.dropout);
  visit.optional("dropout_per_step", neuron.dropout_per_step, NeuronSpec{}.dropout_per_step);
}

template <class Visitor>
void visit_fields(Visitor& visit, Conv3x3& conv) {
  visit("channels", conv.channels, between(1, kMaxChannels));
  visit("norm", conv.norm);
  visit("neuron", conv.neuron);
}

template <class Visitor>
void visit_fields(Visitor& visit, Dense& dense) {
  visit("features", dense.features, between(1, kMaxChannels));
  visit("norm", dense.norm);
  visit("neuron", dense.neuron);
  visit.optional("bias", dense.bias, false);
}

template <class Visitor>
void visit_fields(Visitor& visit, AvgPool& pool) {
  visit("size", pool.size, at_least(0));
}

template <class Visitor>
void visit_fields(Visitor& visit, SumPool& pool) {
  visit("size", pool.size, at_least(0));
}

template <class Visitor>
void visit_fields(Visitor& visit, MaxPool& pool) {
  visit("size", pool.size, at_least(0));
}

template <class Visitor>
void visit_fields(Visitor& visit, Readout& readout) {
  const Readout usual;
  visit("classes", readout.classes, between(1, kMaxChannels));
  visit.optional("votes", readout.votes, usual.votes);
  visit.optional("synapse", readout.synapse, usual.synapse);
  visit.optional("leak", readout.leak, usual.leak);
  visit.optional("leak_newest", readout.leak_newest, usual.leak_newest);
  visit.optional("leak_gradient", readout.leak_gradient, usual.leak_gradient);
  visit("norm", readout.norm);
  visit("divide_by_steps", readout.divide_by_steps);
  visit.optional("bias", readout.bias, false);
  visit.optional("source", readout.source, {});
}

template <class Visitor>
void visit_fields(Visitor& visit, Conv& conv) {
  visit("channels", conv.channels, between(1, kMaxChannels));
  visit("kernel", conv.kernel, between(1, kMaxKernel));
  visit("stride", conv.stride, between(1, kMaxKernel));
  visit("padding", conv.padding, between(0, kMaxKernel));
  visit("bias", conv.bias);
  visit("norm", conv.norm);
  visit("neuron", conv.neuron);
}

template <class Visitor>
void visit_fields(Visitor& visit, SynapseSpec& synapse) {
  const SynapseSpec usual;
  visit("kind", synapse.kind);
  visit.optional("outputs", synapse.outputs, usual.outputs);
  visit.optional("kernel", synapse.kernel, usual.kernel);
  visit.optional("stride", synapse.stride, usual.stride);
  visit.optional("padding", synapse.padding, usual.padding);
  visit.optional("bias", synapse.bias, usual.bias);
}

template <class Visitor>
void visit_fields(Visitor& visit, PoolSpec& pool) {
  visit("kind", pool.kind);
  visit("size", pool.size, at_least(0));
}

template <class Visitor>
void visit_fields(Visitor& visit, BranchSpec& branch) {
  visit.optional("source", branch.source, {});
  visit.optional("pool", branch.pool, PoolSpec{});
  visit("synapse", branch.synapse);
  visit("norm", branch.norm);
}

template <class Visitor>
void visit_fields(Visitor& visit, BranchedStage& stage) {
  visit.optional("name", stage.name, "");
  visit("neuron", stage.neuron);
  visit("branches", stage.branches);
}

template <class Visitor>
void visit_fields(Visitor& visit, NetworkSpec& spec) {
  visit("steps", spec.steps, between(1, kMaxSteps));
  visit("propagation", spec.propagation);
  visit.optional("init", spec.init, NetworkSpec{}.init);
  visit("input", spec.input);
  visit("stages", spec.stages);
}

/// A network from its table, validated. `origin` names the source in messages.
NetworkSpec read_network(const Json& json, const std::string& origin);

}  // namespace bntt
