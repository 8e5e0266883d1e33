#include "input/fit_image.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace bntt {
namespace {

/// The weights of source positions [first, first + weights) in one target position.
struct Tap {
  int64_t first;
  std::vector<float> weights;
};

std::vector<Tap> triangle_taps(double begin, double extent, int64_t source, int64_t target) {
  const double scale = extent / static_cast<double>(target);
  const double reach = std::max(scale, 1.0);
  std::vector<Tap> taps;
  for (int64_t i = 0; i < target; ++i) {
    const double middle = begin + (static_cast<double>(i) + 0.5) * scale;
    const int64_t first =
        std::clamp<int64_t>(std::llround(std::floor(middle - reach + 0.5)), 0, source - 1);
    const int64_t last =
        std::clamp<int64_t>(std::llround(std::floor(middle + reach + 0.5)), first + 1, source);
    Tap tap{.first = first, .weights = {}};
    double sum = 0.0;
    for (int64_t k = first; k < last; ++k) {
      const double distance = std::abs(static_cast<double>(k) + 0.5 - middle) / reach;
      const double weight = std::max(0.0, 1.0 - distance);
      tap.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (float& weight : tap.weights) weight /= static_cast<float>(sum);
    taps.push_back(std::move(tap));
  }
  return taps;
}

uint8_t rounded(float value) {
  return static_cast<uint8_t>(std::clamp(std::floor(value + 0.5F), 0.0F, 255.0F));
}

}  // namespace

void fit_image(const ImageView& image, const ImageSize& size, Fit fit, uint8_t* out) {
  const int64_t channels = image.channels;
  if (image.width == size.width && image.height == size.height) {
    std::copy_n(image.pixels, image.width * image.height * channels, out);
    return;
  }
  auto width = static_cast<double>(image.width);
  auto height = static_cast<double>(image.height);
  if (fit == Fit::crop) {
    const auto target_width = static_cast<double>(size.width);
    const auto target_height = static_cast<double>(size.height);
    if (width * target_height <= height * target_width) {
      height = width * target_height / target_width;
    } else {
      width = height * target_width / target_height;
    }
  }
  const double left = (static_cast<double>(image.width) - width) / 2;
  const double top = (static_cast<double>(image.height) - height) / 2;
  const std::vector<Tap> columns = triangle_taps(left, width, image.width, size.width);
  const std::vector<Tap> rows = triangle_taps(top, height, image.height, size.height);
  const int64_t first_row = rows.front().first;
  const int64_t last_row = rows.back().first + static_cast<int64_t>(rows.back().weights.size());
  std::vector<float> narrow;  // [y, x of the target, channel]
  narrow.reserve(static_cast<std::size_t>((last_row - first_row) * size.width * channels));
  std::vector<float> sums(static_cast<std::size_t>(channels));
  for (int64_t y = first_row; y < last_row; ++y) {
    for (const Tap& tap : columns) {
      const uint8_t* pixel = image.pixels + (y * image.width + tap.first) * channels;
      std::ranges::fill(sums, 0.0F);
      for (const float weight : tap.weights) {
        for (float& sum : sums) sum += weight * static_cast<float>(*pixel++);
      }
      narrow.insert(narrow.end(), sums.begin(), sums.end());
    }
  }
  for (const Tap& tap : rows) {
    for (int64_t i = 0; i < size.width * channels; ++i) {
      float sum = 0.0F;
      for (std::size_t k = 0; k < tap.weights.size(); ++k) {
        const int64_t row = tap.first - first_row + static_cast<int64_t>(k);
        sum += tap.weights[k] * narrow[row * size.width * channels + i];
      }
      *out++ = rounded(sum);
    }
  }
}

}  // namespace bntt
