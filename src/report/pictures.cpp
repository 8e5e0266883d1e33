#include "report/pictures.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"

namespace bntt {
namespace {

// Distinguishable with red-green colour blindness.
constexpr std::array<double, 3> kOn = {200, 30, 30};
constexpr std::array<double, 3> kOff = {30, 80, 200};
constexpr double kWhite = 255;

// A single event among many must remain visible: the colour grows with the root of the count.
double strength(uint8_t count, uint8_t peak) {
  if (peak == 0) return 0;
  return std::sqrt(std::min(1.0, static_cast<double>(count) / peak));
}

}  // namespace

Picture image_picture(std::span<const uint8_t> pixels, const MapShape& shape) {
  BNTT_CHECK(static_cast<int64_t>(pixels.size()) == shape.size());
  Picture picture{.width = shape.width, .height = shape.height, .pixels = {}};
  picture.pixels.reserve(static_cast<std::size_t>(3 * shape.pixels()));
  for (int64_t pixel = 0; pixel < shape.pixels(); ++pixel) {
    for (int64_t channel = 0; channel < 3; ++channel) {
      picture.pixels.push_back(
          pixels[pixel * shape.channels + std::min(channel, shape.channels - 1)]);
    }
  }
  return picture;
}

Picture event_picture(std::span<const uint8_t> counts, const MapShape& shape, uint8_t peak) {
  BNTT_CHECK(shape.channels == 2 && static_cast<int64_t>(counts.size()) == shape.size());
  Picture picture{.width = shape.width, .height = shape.height, .pixels = {}};
  picture.pixels.reserve(static_cast<std::size_t>(3 * shape.pixels()));
  for (int64_t pixel = 0; pixel < shape.pixels(); ++pixel) {
    const double off = strength(counts[2 * pixel], peak);
    const double on = strength(counts[2 * pixel + 1], peak);
    for (std::size_t channel = 0; channel < 3; ++channel) {
      // Subtractive mixing, like two inks on paper.
      const double light = (kWhite - off * (kWhite - kOff[channel])) / kWhite *
                           (kWhite - on * (kWhite - kOn[channel])) / kWhite;
      picture.pixels.push_back(static_cast<uint8_t>(std::lround(kWhite * light)));
    }
  }
  return picture;
}

}  // namespace bntt
