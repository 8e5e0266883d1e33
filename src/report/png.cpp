#include "report/png.h"

#include <png.h>

#include <numeric>
#include <vector>

#include "base/check.h"
#include "base/fail.h"
#include "report/base64.h"

namespace bntt {
namespace {

std::vector<uint8_t> grey_of(std::span<const uint8_t> pixels, int64_t channels) {
  std::vector<uint8_t> grey;
  grey.reserve(pixels.size() / channels);
  for (auto pixel = pixels.begin(); pixel != pixels.end(); pixel += channels) {
    grey.push_back(
        static_cast<uint8_t>(std::accumulate(pixel, pixel + channels, int64_t{0}) / channels));
  }
  return grey;
}

std::vector<uint8_t> png_file(const uint8_t* pixels, const MapShape& shape, uint32_t format) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<uint32_t>(shape.width);
  image.height = static_cast<uint32_t>(shape.height);
  image.format = format;
  std::vector<uint8_t> file(PNG_IMAGE_PNG_SIZE_MAX(image));
  png_alloc_size_t bytes = file.size();
  if (png_image_write_to_memory(&image, file.data(), &bytes, 0, pixels, 0, nullptr) == 0) {
    fail("an image of {} x {} pixels cannot be written as PNG: {}", shape.width, shape.height,
         image.message);
  }
  file.resize(bytes);
  return file;
}

}  // namespace

std::string png_data_uri(std::span<const uint8_t> pixels, const MapShape& shape) {
  BNTT_CHECK(static_cast<int64_t>(pixels.size()) == shape.size());
  std::vector<uint8_t> file;
  if (shape.channels == 3) {
    file = png_file(pixels.data(), shape, PNG_FORMAT_RGB);
  } else {
    file = png_file(grey_of(pixels, shape.channels).data(), shape, PNG_FORMAT_GRAY);
  }
  return "data:image/png;base64," + base64(file);
}

}  // namespace bntt
