#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <vector>

#include "base/crc32.h"

namespace bntt {
namespace {

std::vector<uint8_t> some_bytes(std::size_t count) {
  std::vector<uint8_t> bytes(count);
  uint32_t state = 1;
  std::ranges::generate(bytes, [&] {
    state = state * 1664525U + 1013904223U;
    return static_cast<uint8_t>(state >> 24);
  });
  return bytes;
}

TEST(Crc32, IsThatOfZlib) {
  for (const std::size_t count : {1U, 7U, 8U, 9U, 64U, 1000U, 100003U}) {
    const std::vector<uint8_t> bytes = some_bytes(count);
    EXPECT_EQ(crc32(bytes), ::crc32_z(0, bytes.data(), bytes.size())) << count;
  }
  EXPECT_EQ(crc32({}), 0U);
}

TEST(Crc32, GoesOnWhereItStopped) {
  const std::vector<uint8_t> bytes = some_bytes(100);
  const auto all = std::span<const uint8_t>(bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    EXPECT_EQ(crc32(all.subspan(cut), crc32(all.first(cut))), crc32(all));
  }
}

}  // namespace
}  // namespace bntt
