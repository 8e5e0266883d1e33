#pragma once

#include <cstdint>
#include <vector>

#include "bntt/buffer.h"
#include "bntt/shape.h"

namespace bntt {

struct Batch {
  std::vector<uint32_t> sample_ids;
  std::vector<int64_t> labels;
  MapShape shape;
  Buffer<float>
      images;  ///< [image, y, x, channel], 0..1: encoders normalise, noise and attacks act before

  int64_t size() const { return static_cast<int64_t>(labels.size()); }
};

}  // namespace bntt
