#pragma once

#include <optional>
#include <span>

#include "bntt/network.h"

namespace bntt {

/// The properties of a converted network, apart from its thresholds.
struct SpikingOptions {
  NeuronSpec neuron;  ///< of every stage, except its threshold
  int64_t steps = 1;
  float input_scale = 1.0F;  ///< s_0: a step's input is, on average, the ANN's divided by it
  bool pools_fire = false;   ///< average pools become stages of neurons, with threshold 1
  /// The outputs become neurons with this threshold, whose spikes the readout counts; otherwise it
  /// accumulates their currents.
  std::optional<float> output_threshold;
  bool scale_readout = true;  ///< by the scale of the stage before it
};

/// s_0, s_1, ...: a spike of stage l represents an activation of s_l. Stage l receives currents W
/// a/s from the previous stage, so that s_l = θ_l s_{l−1}.
std::vector<float> scales_of(std::span<const float> thresholds, float input_scale);

/// Turns an ANN without norms into a spiking network with these thresholds. A bias becomes a
/// constant current b/s_{l−1}; if the readout is scaled, its mean voltage approaches the ANN's
/// logits.
Network spiking_network(const Network& ann, const SpikingOptions& options,
                        std::span<const float> thresholds);

/// The same up to the stage after those that have thresholds. The neurons of that stage output
/// their weighted inputs; the stages after it are meaningless.
Network weighted_input_probe(const Network& ann, const SpikingOptions& options,
                             std::span<const float> thresholds);

}  // namespace bntt
