#pragma once

#include <cstdint>

namespace bntt {

/// One feature map, or the input image. A fully connected layer is a 1x1 map.
struct MapShape {
  int64_t channels = 1;
  int64_t height = 1;
  int64_t width = 1;

  int64_t pixels() const { return height * width; }
  int64_t size() const { return channels * height * width; }
  bool operator==(const MapShape&) const = default;
};

}  // namespace bntt
