#pragma once

#include <span>

#include "bntt/network.h"

namespace bntt {

/// What a converted network is, apart from its thresholds.
struct SpikingOptions {
  NeuronSpec neuron;  ///< of every stage, its threshold aside
  int64_t steps = 1;
  float input_scale = 1.0F;  ///< s_0: the input of a step is, on average, the ANN's divided by it
  bool pools_fire = false;   ///< average pools become stages of neurons, with threshold 1
};

/// s_0, s_1, ...: a spike of stage l stands for an activation of s_l. Stage l sees currents W a/s
/// of the stage before, so that s_l = θ_l s_{l−1}.
std::vector<float> scales_of(std::span<const float> thresholds, float input_scale);

/// An ANN without norms as a spiking network, with these thresholds of its stages. A bias becomes a
/// constant current b/s_{l−1}; the readout's weights are multiplied by the last scale, so that its
/// mean voltage nears the ANN's logits.
Network spiking_network(const Network& ann, const SpikingOptions& options,
                        std::span<const float> thresholds);

/// The same up to the stage after those that have thresholds, whose neurons hand on their weighted
/// inputs. What follows it says nothing.
Network weighted_input_probe(const Network& ann, const SpikingOptions& options,
                             std::span<const float> thresholds);

}  // namespace bntt
