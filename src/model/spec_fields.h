#pragma once

#include "base/fields.h"
#include "bntt/network_spec.h"

/// How the parts of a NetworkSpec are called in files.
namespace bntt {

constexpr auto enum_names(NormKind) {
  return std::array{std::pair{NormKind::none, "none"}, std::pair{NormKind::bntt, "bntt"},
                    std::pair{NormKind::bn, "bn"}, std::pair{NormKind::bn_time, "bn-time"},
                    std::pair{NormKind::layer, "layer"}};
}

constexpr auto enum_names(SurrogateKind) {
  return std::array{
      std::pair{SurrogateKind::triangle, "triangle"}, std::pair{SurrogateKind::sigmoid, "sigmoid"},
      std::pair{SurrogateKind::arctan, "arctan"}, std::pair{SurrogateKind::rectangle, "rectangle"}};
}

constexpr auto enum_names(NeuronKind) {
  return std::array{std::pair{NeuronKind::lif, "lif"},
                    std::pair{NeuronKind::integrate_and_fire, "if"},
                    std::pair{NeuronKind::relu, "relu"}};
}

constexpr auto enum_names(Reset) {
  return std::array{std::pair{Reset::soft, "soft"}, std::pair{Reset::hard, "hard"}};
}

constexpr auto enum_names(Propagation) {
  return std::array{std::pair{Propagation::instant, "instant"},
                    std::pair{Propagation::delayed, "delayed"}};
}

constexpr auto variant_names(const StageSpec&) {
  return std::array{"conv3x3", "dense", "avg-pool", "readout"};
}

template <class Visitor>
void visit_fields(Visitor& visit, MapShape& shape) {
  visit("channels", shape.channels);
  visit("height", shape.height);
  visit("width", shape.width);
}

template <class Visitor>
void visit_fields(Visitor& visit, NormSpec& norm) {
  visit("kind", norm.kind);
  visit("epsilon", norm.epsilon);
  visit("momentum", norm.momentum);
}

template <class Visitor>
void visit_fields(Visitor& visit, SurrogateSpec& surrogate) {
  visit("kind", surrogate.kind);
  visit("alpha", surrogate.alpha);
}

template <class Visitor>
void visit_fields(Visitor& visit, NeuronSpec& neuron) {
  visit("kind", neuron.kind);
  visit("leak", neuron.leak);
  visit("threshold", neuron.threshold);
  visit("reset", neuron.reset);
  visit("detach_reset", neuron.detach_reset);
  visit("surrogate", neuron.surrogate);
}

template <class Visitor>
void visit_fields(Visitor& visit, Conv3x3& conv) {
  visit("channels", conv.channels);
  visit("norm", conv.norm);
  visit("neuron", conv.neuron);
}

template <class Visitor>
void visit_fields(Visitor& visit, Dense& dense) {
  visit("features", dense.features);
  visit("norm", dense.norm);
  visit("neuron", dense.neuron);
}

template <class Visitor>
void visit_fields(Visitor& visit, AvgPool& pool) {
  visit("size", pool.size);
}

template <class Visitor>
void visit_fields(Visitor& visit, Readout& readout) {
  visit("classes", readout.classes);
  visit("norm", readout.norm);
  visit("divide_by_steps", readout.divide_by_steps);
}

template <class Visitor>
void visit_fields(Visitor& visit, NetworkSpec& spec) {
  visit("steps", spec.steps);
  visit("propagation", spec.propagation);
  visit("input", spec.input);
  visit("stages", spec.stages);
}

}  // namespace bntt
