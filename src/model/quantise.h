#pragma once

#include <string>
#include <vector>

#include "bntt/network.h"

namespace bntt {

/// Scales of output channels: one entry per branch, stage by stage; empty where weights stay fp32.
using WeightScales = std::vector<std::vector<float>>;

/// The branches whose weights can be int8, stage by stage: those that read spikes. Throws Error,
/// beginning with `origin` and naming the stage, for a network that cannot be quantised: an ANN,
/// one whose weights are int8 already or not finite, one without a synapse that reads spikes.
std::vector<bool> quantisable_branches(const Network& network, bool input_spikes,
                                       const std::string& origin);

/// Those of one branch.
const std::vector<float>& scales_of(const Network& network, std::size_t stage,
                                    std::size_t branch = 0);
/// Whether spikes that reach a stage add up integers: then all of its branches that read spikes
/// through weights do.
bool adds_integers(const Network& network, std::size_t stage);

/// The weights of a branch; null for the identity.
const Parameter* weights_of(const Network& network, const BranchPlan& branch);

/// 127 times the scale of an output channel is its largest |weight|.
std::vector<float> scales_of_largest(const Parameter& weights);
WeightScales scales_of_largest(const Network& network, const std::vector<bool>& branches);

/// Each weight as the nearest scale · integer from −127 to 127.
Buffer<float> rounded_to(const std::vector<float>& scales, const Buffer<float>& weights);
/// The network with int8 weights wherever there are scales.
Network quantise(const Network& network, const WeightScales& scales);
/// The same weights as floats, whatever they were.
Network with_float_weights(const Network& network);

}  // namespace bntt
