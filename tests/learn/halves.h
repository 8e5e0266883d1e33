#pragma once

#include <cstdint>
#include <vector>

#include "bntt/bntt.hpp"

namespace bntt::testing {

/// 8x8 images that are brighter in the left half (class 0) or in the right half (class 1).
struct Halves {
  std::vector<uint8_t> pixels;  // [image, y, x]
  std::vector<int64_t> labels;

  explicit Halves(int64_t count, int64_t first = 0) {
    for (int64_t image = first; image < first + count; ++image) {
      for (int64_t i = 0; i < 64; ++i) {
        const bool bright = (i % 8 >= 4) == (image % 2 == 1);
        pixels.push_back(static_cast<uint8_t>((bright ? 150 : 20) + (image * 31 + i * 17) % 60));
      }
      labels.push_back(image % 2);
    }
  }
  Images images() const { return {pixels, std::ssize(labels), 8, 8, 1}; }
};

inline NetworkSpec small_network() {
  return {
      .input = {1, 8, 8},
      .steps = 3,
      .stages = {Conv3x3{.channels = 6}, AvgPool{2}, Dense{.features = 10}, Readout{.classes = 2}}};
}

inline InputSpec direct_input() {
  return {.encoder = {.kind = EncoderKind::direct, .normalisation = {{0.4F}, {0.3F}}}};
}

}  // namespace bntt::testing
