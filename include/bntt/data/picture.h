#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "bntt/api.h"
#include "bntt/images.h"

namespace bntt {

/// Three channels, 8 bits each; grey pictures have three equal ones, transparent pixels are over
/// black.
struct Picture {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> pixels;  ///< [y, x, channel]

  /// As Model::predict takes it; the picture must outlive what this returns.
  Images images() const { return {pixels, 1, height, width, 3}; }
};

/// A JPEG or PNG file, told apart by its first bytes. Throws Error, beginning with the file's name.
BNTT_API Picture read_picture(const std::filesystem::path& file);
/// `origin` starts every error sentence. What the header announces is believed only up to 2^25
/// pixels, and up to what so many bytes can hold.
BNTT_API Picture decode_picture(std::span<const uint8_t> bytes, const std::string& origin);

}  // namespace bntt
