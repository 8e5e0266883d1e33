#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bntt/bntt.h"
#include "bntt/model.h"

struct bntt_model {
  bntt::Model model;
  std::vector<std::string> class_names;  ///< [class]
};

namespace bntt::c {

/// Images passed by the caller. Throws Error for a null pointer and for impossible sizes.
Images images_at(const uint8_t* pixels, int64_t images, int64_t height, int64_t width,
                 int64_t channels);

/// One frame of counts for each of `recordings`: [recording, y, x, polarity], or `frames` frames.
/// Throws Error unless the model reads event recordings.
Batch counts_at(const Model& model, const uint8_t* counts, int64_t recordings, int64_t frames,
                uint32_t first_sample);

/// Images of values in the model's size: [image, y, x, channel]. Throws Error for values outside 0
/// to 1.
Batch values_at(const Model& model, const float* values, int64_t images, uint32_t first_sample);

}  // namespace bntt::c
