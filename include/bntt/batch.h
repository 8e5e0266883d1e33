#pragma once

#include <cstdint>
#include <vector>

#include "bntt/buffer.h"
#include "bntt/shape.h"

namespace bntt {

/// Images or event frames: one of the two buffers is filled.
struct Batch {
  std::vector<uint32_t> sample_ids;  ///< random draws for a sample are a function of its id
  std::vector<int64_t> labels;       ///< may be empty if they are not needed
  MapShape shape;                    ///< of one image or one frame
  Buffer<float> images;    ///< [image, y, x, channel], 0..1, not normalised: encoders do that
  int64_t frames = 1;      ///< per sample of `counts`
  Buffer<uint8_t> counts;  ///< [sample, frame, y, x, channel]: events of each interval

  int64_t size() const {
    return static_cast<int64_t>(sample_ids.size());
  }  ///< the number of samples
};

/// The value of a byte of an image, in 0..1.
inline float value_of_pixel(uint8_t pixel) { return static_cast<float>(pixel) / 255.0F; }

}  // namespace bntt
