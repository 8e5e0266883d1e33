#pragma once

#include <ostream>
#include <vector>

#include "bntt/shape.h"

namespace bntt::testing {

struct GeometryCase {
  MapShape map;  // of the input
  int64_t output_channels;
  ConvGeometry geometry;
};

inline std::ostream& operator<<(std::ostream& out, const ConvGeometry& geometry) {
  return out << "kernel " << geometry.kernel << ", stride " << geometry.stride << ", padding "
             << geometry.padding;
}

inline std::ostream& operator<<(std::ostream& out, const GeometryCase& c) {
  return out << c.map.channels << "x" << c.map.height << "x" << c.map.width << " to "
             << c.output_channels << " channels, " << c.geometry;
}

/// Every kernel, stride and padding that networks use, and some that none would: even kernels,
/// strides beyond the kernel, padding beyond it. Maps and channels take turns; maps are odd, even
/// and no larger than the kernel.
inline std::vector<GeometryCase> geometry_cases() {
  const std::vector<MapShape> maps = {{1, 9, 7}, {64, 7, 5}, {3, 8, 11}, {70, 4, 6}, {5, 1, 3}};
  const std::vector<int64_t> outputs = {70, 3, 1, 64, 17, 12, 33};
  std::vector<GeometryCase> cases;
  std::size_t turn = 0;
  for (const int64_t kernel : {1, 2, 3, 5, 7}) {
    for (const int64_t stride : {1, 2, 3}) {
      for (const int64_t padding : {0, 1, 2, 3}) {
        const ConvGeometry geometry{kernel, stride, padding};
        for (int i = 0; i < 3; ++i, ++turn) {
          const MapShape& map = maps[turn % maps.size()];
          if (geometry.output(map, 1).pixels() == 0) continue;
          cases.push_back({map, outputs[turn % outputs.size()], geometry});
        }
      }
    }
  }
  return cases;
}

}  // namespace bntt::testing
