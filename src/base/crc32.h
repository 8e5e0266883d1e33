#pragma once

#include <cstdint>
#include <span>

namespace bntt {

/// The CRC-32 of zlib, PNG and Ethernet. `before` is that of the preceding bytes.
uint32_t crc32(std::span<const uint8_t> bytes, uint32_t before = 0);

}  // namespace bntt
