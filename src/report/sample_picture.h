#pragma once

#include <cstdint>
#include <string>

#include "data/dataset.h"

namespace bntt {

/// A sample as a PNG data URI: an image as it is; for a recording, the sum of the events of its
/// first `frames` frames, brighter in red, darker in blue, on a scale that is the same for any
/// `frames`.
std::string sample_picture(const ImageSet& set, int64_t sample, int64_t frames);

/// The whole sample.
inline std::string sample_picture(const ImageSet& set, int64_t sample) {
  return sample_picture(set, sample, set.frames);
}

}  // namespace bntt
