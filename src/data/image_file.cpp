#include "data/image_file.h"

#include <png.h>
#include <turbojpeg.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "base/fail.h"
#include "base/files.h"
#include "base/text.h"

namespace bntt {
namespace {

constexpr int kChannels = 3;
constexpr int64_t kMostPixels = int64_t{1} << 25;

constexpr std::array<uint8_t, 3> kJpegStart = {0xff, 0xd8, 0xff};
constexpr std::array<uint8_t, 8> kPngStart = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

template <std::size_t Size>
bool starts_with(std::span<const uint8_t> bytes, const std::array<uint8_t, Size>& start) {
  return bytes.size() >= Size && std::equal(start.begin(), start.end(), bytes.begin());
}

/// `per_byte`: the largest number of pixels that one byte of a file can describe.
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

/// Red, green and blue of cyan, magenta, yellow and black, which such files store inverted: 255
/// means no ink.
std::vector<uint8_t> without_inks(const std::vector<uint8_t>& cmyk) {
  std::vector<uint8_t> pixels;
  pixels.reserve(cmyk.size() / 4 * kChannels);
  for (std::size_t i = 0; i < cmyk.size(); i += 4) {
    for (std::size_t c = 0; c < kChannels; ++c) {
      pixels.push_back(static_cast<uint8_t>((cmyk[i + c] * cmyk[i + 3] + 127) / 255));
    }
  }
  return pixels;
}

Picture decode_jpeg(std::span<const uint8_t> bytes, const std::string& origin) {
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
  const auto decode = [&](int channels, int format) {
    std::vector<uint8_t> pixels(static_cast<std::size_t>(width) * height * channels);
    if (tjDecompress2(decoder.get(), bytes.data(), bytes.size(), pixels.data(), width, 0, height,
                      format, TJFLAG_LIMITSCANS | TJFLAG_STOPONWARNING) != 0) {
      refuse();
    }
    return pixels;
  };
  const bool inks = colours == TJCS_CMYK || colours == TJCS_YCCK;
  return {.width = width,
          .height = height,
          .pixels = inks ? without_inks(decode(4, TJPF_CMYK)) : decode(kChannels, TJPF_RGB)};
}

Picture decode_png(std::span<const uint8_t> bytes, const std::string& origin) {
  // Deflate compresses at most 1032 times; a byte holds at most 8 pixels.
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
  // libpng takes 16-bit values for linear light otherwise.
  header.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  Picture image{.width = header.width, .height = header.height, .pixels = {}};
  image.pixels.resize(PNG_IMAGE_SIZE(header));
  const png_color black{};
  if (png_image_finish_read(&header, &black, image.pixels.data(), 0, nullptr) == 0 ||
      PNG_IMAGE_FAILED(header)) {
    refuse();
  }
  return image;
}

}  // namespace

Picture decode_picture(std::span<const uint8_t> bytes, const std::string& origin) {
  if (starts_with(bytes, kJpegStart)) return decode_jpeg(bytes, origin);
  if (starts_with(bytes, kPngStart)) return decode_png(bytes, origin);
  fail("{} is neither a JPEG nor a PNG file", origin);
}

Picture read_picture(const std::filesystem::path& file) {
  return decode_picture(read_file(file, kLargestImageFile), file.string());
}

}  // namespace bntt
