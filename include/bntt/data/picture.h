#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "bntt/api.h"
#include "bntt/images.h"

namespace bntt {

/// Three channels, 8 bits each; grey pictures have three equal ones, transparent pixels are blended
/// with black.
struct Picture {
  int64_t width = 0;            ///< in pixels
  int64_t height = 0;           ///< in pixels
  std::vector<uint8_t> pixels;  ///< [y, x, channel]

  /// In the form that Model::predict takes; the picture must outlive the result.
  Images images() const { return {pixels, 1, height, width, 3}; }
};

/// Reads a JPEG or PNG file, recognised by its first bytes. Throws an Error that begins with the
/// file's name. May be called from several threads, as may decode_picture.
BNTT_API Picture read_picture(const std::filesystem::path& file);
/// `origin` starts every error sentence. The size announced in the header is accepted only up to
/// 2^25 pixels, and up to what this many bytes can hold.
BNTT_API Picture decode_picture(std::span<const uint8_t> bytes, const std::string& origin);

}  // namespace bntt
