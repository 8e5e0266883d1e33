#pragma once

#include "bntt/loss.h"
#include "bntt/optimizer.h"
#include "data/augmentation.h"
#include "train/config.h"

namespace bntt {

// The settings of a run in the form that the parts of a training step take.

OptimizerOptions optimizer_options(const TrainConfig& train);
LossOptions loss_options(const TrainConfig& train);
AugmentationSpec augmentation_of(const DataConfig& data);

}  // namespace bntt
