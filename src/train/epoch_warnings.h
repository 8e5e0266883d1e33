#pragma once

#include <span>
#include <string>
#include <vector>

#include "bntt/loss.h"
#include "bntt/network.h"
#include "train/config.h"

namespace bntt {

/// One sentence for each sign that a training whose numbers are all finite learns nothing:
/// - no neuron fires, or none of the stage before the readout;
/// - the cross entropy is more than ten times that of guessing, ln(classes).
/// `densities` has the share of neuron-steps that fire in each spiking stage, in their order.
std::vector<std::string> epoch_warnings(const TrainConfig& config, const Network& network,
                                        const LossSums& train, std::span<const double> densities);

}  // namespace bntt
