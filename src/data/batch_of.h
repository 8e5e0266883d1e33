#pragma once

#include <cstdint>
#include <span>

#include "bntt/batch.h"
#include "data/augmentation.h"
#include "data/dataset.h"

namespace bntt {

/// The random changes of samples in an epoch.
struct AugmentationDraws {
  AugmentationSpec spec;
  uint64_t seed = 0;
  uint32_t epoch = 0;
};

/// The samples with these indices, in this order; unchanged without `draws`.
Batch batch_of(const ImageSet& images, std::span<const int64_t> indices,
               const AugmentationDraws* draws = nullptr);

}  // namespace bntt
