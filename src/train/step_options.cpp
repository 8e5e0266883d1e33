#include "train/step_options.h"

namespace bntt {

OptimizerOptions optimizer_options(const TrainConfig& train) {
  return {.kind = train.optimizer,
          .momentum = train.momentum,
          .weight_decay = train.weight_decay,
          .decay_gamma = train.decay_gamma,
          .clip_norm = train.clip_norm,
          .beta1 = train.beta1,
          .beta2 = train.beta2,
          .epsilon = train.epsilon,
          .amsgrad = train.amsgrad,
          .dense_rate_factor = train.dense_rate_factor};
}

LossOptions loss_options(const TrainConfig& train) {
  return {.kind = train.loss,
          .smoothing = train.label_smoothing,
          .tet_share = train.tet_share,
          .tet_target = train.tet_target};
}

AugmentationSpec augmentation_of(const DataConfig& data) {
  return {.pad = data.augment_pad, .flip = data.augment_flip, .cutout = data.augment_cutout};
}

}  // namespace bntt
