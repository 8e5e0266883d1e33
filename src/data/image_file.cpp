#include "data/image_file.h"

#include <png.h>
#include <turbojpeg.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "base/fail.h"
#include "base/text.h"

namespace bntt {
namespace {

constexpr int64_t kChannels = 3;
constexpr int64_t kMostPixels = int64_t{1} << 25;

constexpr std::array<uint8_t, 3> kJpegStart = {0xff, 0xd8, 0xff};
constexpr std::array<uint8_t, 8> kPngStart = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

template <std::size_t Size>
bool starts_with(std::span<const uint8_t> bytes, const std::array<uint8_t, Size>& start) {
  return bytes.size() >= Size && std::equal(start.begin(), start.end(), bytes.begin());
}

/// `per_byte`: pixels that one byte of a file can describe at most.
void check_size(int64_t width, int64_t height, int64_t file_bytes, int64_t per_byte,
                const std::string& origin) {
  const int64_t most = std::min(kMostPixels, file_bytes * per_byte);
  if (width < 1 || height < 1 || width > most || height > most / width) {
    fail("{} announces {}x{} pixels, expected at most {} in a file of {} bytes", origin, width,
         height, most, file_bytes);
  }
}

struct JpegDeleter {
  void operator()(void* handle) const { tjDestroy(handle); }
};

DecodedImage decode_jpeg(std::span<const uint8_t> bytes, const std::string& origin) {
  // A block of 64 pixels takes at least two bits.
  constexpr int64_t kPixelsPerByte = 256;
  const std::unique_ptr<void, JpegDeleter> decoder(tjInitDecompress());
  if (decoder == nullptr) throw std::bad_alloc();
  const auto refuse = [&] {
    fail("{} is a damaged JPEG file: {}", origin, excerpt(tjGetErrorStr2(decoder.get())));
  };
  int width = 0;
  int height = 0;
  int subsampling = 0;
  int colours = 0;
  if (tjDecompressHeader3(decoder.get(), bytes.data(), bytes.size(), &width, &height, &subsampling,
                          &colours) != 0) {
    refuse();
  }
  check_size(width, height, static_cast<int64_t>(bytes.size()), kPixelsPerByte, origin);
  DecodedImage image{.width = width, .height = height, .pixels = {}};
  image.pixels.resize(static_cast<std::size_t>(kChannels * width * height));
  if (tjDecompress2(decoder.get(), bytes.data(), bytes.size(), image.pixels.data(), width, 0,
                    height, TJPF_RGB, TJFLAG_LIMITSCANS | TJFLAG_STOPONWARNING) != 0) {
    refuse();
  }
  return image;
}

DecodedImage decode_png(std::span<const uint8_t> bytes, const std::string& origin) {
  // Deflate shrinks at most 1032 times; a byte holds at most 8 pixels.
  constexpr int64_t kPixelsPerByte = int64_t{8} * 1032;
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  const std::unique_ptr<png_image, decltype(&png_image_free)> free_later(&header, png_image_free);
  const auto refuse = [&] {
    fail("{} is a damaged PNG file: {}", origin, excerpt(header.message));
  };
  if (png_image_begin_read_from_memory(&header, bytes.data(), bytes.size()) == 0) refuse();
  check_size(header.width, header.height, static_cast<int64_t>(bytes.size()), kPixelsPerByte,
             origin);
  header.format = PNG_FORMAT_RGB;
  DecodedImage image{.width = header.width, .height = header.height, .pixels = {}};
  image.pixels.resize(PNG_IMAGE_SIZE(header));
  const png_color black{};
  if (png_image_finish_read(&header, &black, image.pixels.data(), 0, nullptr) == 0 ||
      PNG_IMAGE_FAILED(header)) {
    refuse();
  }
  return image;
}

/// The weights with which source positions [first, first + weights) make one target position.
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

DecodedImage decode_image(std::span<const uint8_t> bytes, const std::string& origin) {
  if (starts_with(bytes, kJpegStart)) return decode_jpeg(bytes, origin);
  if (starts_with(bytes, kPngStart)) return decode_png(bytes, origin);
  fail("{} is neither a JPEG nor a PNG file", origin);
}

void fit_image(const DecodedImage& image, int64_t size, Fit fit, uint8_t* out) {
  if (image.width == size && image.height == size) {
    std::ranges::copy(image.pixels, out);
    return;
  }
  auto width = static_cast<double>(image.width);
  auto height = static_cast<double>(image.height);
  if (fit == Fit::crop) width = height = std::min(width, height);
  const double left = (static_cast<double>(image.width) - width) / 2;
  const double top = (static_cast<double>(image.height) - height) / 2;
  const std::vector<Tap> columns = triangle_taps(left, width, image.width, size);
  const std::vector<Tap> rows = triangle_taps(top, height, image.height, size);
  const int64_t first_row = rows.front().first;
  const int64_t last_row = rows.back().first + static_cast<int64_t>(rows.back().weights.size());
  std::vector<float> narrow;  // [y, x of the target, channel]
  narrow.reserve(static_cast<std::size_t>((last_row - first_row) * size * kChannels));
  for (int64_t y = first_row; y < last_row; ++y) {
    for (const Tap& tap : columns) {
      const uint8_t* pixel = image.pixels.data() + (y * image.width + tap.first) * kChannels;
      std::array<float, kChannels> sums{};
      for (const float weight : tap.weights) {
        for (float& sum : sums) sum += weight * static_cast<float>(*pixel++);
      }
      narrow.insert(narrow.end(), sums.begin(), sums.end());
    }
  }
  for (const Tap& tap : rows) {
    for (int64_t i = 0; i < size * kChannels; ++i) {
      float sum = 0.0F;
      for (std::size_t k = 0; k < tap.weights.size(); ++k) {
        const int64_t row = tap.first - first_row + static_cast<int64_t>(k);
        sum += tap.weights[k] * narrow[row * size * kChannels + i];
      }
      *out++ = rounded(sum);
    }
  }
}

}  // namespace bntt
