#pragma once

#include <png.h>
#include <turbojpeg.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "fixtures.h"

// Files of the formats that data sets come in.
namespace bntt::testing {

/// A PNG file of [y, x, channel].
inline Bytes png_file(uint32_t width, uint32_t height, const Bytes& rgb) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = PNG_FORMAT_RGB;
  Bytes bytes(rgb.size() + 4096);
  png_alloc_size_t size = bytes.size();
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, rgb.data(), 0, nullptr) == 0) {
    throw std::runtime_error("cannot write a PNG file");
  }
  bytes.resize(size);
  return bytes;
}

/// A JPEG file of [y, x, channel], or of [y, x] with one channel.
inline Bytes jpeg_file(int width, int height, const Bytes& pixels, bool grey = false) {
  const tjhandle encoder = tjInitCompress();
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  const int status =
      tjCompress2(encoder, pixels.data(), width, 0, height, grey ? TJPF_GRAY : TJPF_RGB, &memory,
                  &size, grey ? TJSAMP_GRAY : TJSAMP_444, 95, 0);
  if (status != 0) throw std::runtime_error("cannot write a JPEG file");
  const Bytes bytes(memory, memory + size);
  tjFree(memory);
  tjDestroy(encoder);
  return bytes;
}

/// An event of N-MNIST's 40 bits.
inline void append_nmnist(int x, int y, bool on, uint32_t time_us, Bytes& bytes) {
  for (const uint32_t byte : {static_cast<uint32_t>(x), static_cast<uint32_t>(y),
                              (on ? 0x80U : 0U) | time_us >> 16, time_us >> 8, time_us}) {
    bytes.push_back(static_cast<uint8_t>(byte));
  }
}

inline void append_big_endian(uint32_t value, Bytes& bytes) {
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<uint8_t>(value >> shift));
}

inline void append_little_endian(uint32_t value, Bytes& bytes) {
  for (const int shift : {0, 8, 16, 24}) bytes.push_back(static_cast<uint8_t>(value >> shift));
}

inline Bytes text_bytes(const std::string& text) { return {text.begin(), text.end()}; }

/// An event of a DVS128 in AEDAT 2.0.
inline void append_aedat2(int x, int y, bool on, uint32_t time_us, Bytes& bytes) {
  append_big_endian(static_cast<uint32_t>(y << 8 | x << 1 | (on ? 0 : 1)), bytes);
  append_big_endian(time_us, bytes);
}

}  // namespace bntt::testing
