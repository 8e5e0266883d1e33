#include "base/crc32.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace bntt {
namespace {

constexpr uint32_t kPolynomial = 0xedb88320;  // of IEEE 802.3, bits reversed
constexpr std::size_t kStride = 8;

using Tables = std::array<std::array<uint32_t, 256>, kStride>;

/// tables[k][b]: the effect of byte b on the remainder if k more bytes follow it.
constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) {
      remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? kPolynomial : 0);
    }
    tables[0][byte] = remainder;
  }
  for (std::size_t k = 1; k < kStride; ++k) {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

// Eight bytes at a time, each with its own table: byte by byte would be several times slower.
uint32_t crc32(std::span<const uint8_t> bytes, uint32_t before) {
  static_assert(std::endian::native == std::endian::little);
  uint32_t remainder = ~before;
  const uint8_t* next = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= kStride; left -= kStride, next += kStride) {
    uint64_t word = 0;
    std::memcpy(&word, next, kStride);
    word ^= remainder;
    remainder = 0;
    for (std::size_t k = 0; k < kStride; ++k) {
      remainder ^= kTables[kStride - 1 - k][(word >> (8 * k)) & 0xff];
    }
  }
  for (; left > 0; --left, ++next) {
    remainder = (remainder >> 8) ^ kTables[0][(remainder ^ *next) & 0xff];
  }
  return ~remainder;
}

}  // namespace bntt
