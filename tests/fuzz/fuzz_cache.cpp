#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "data/sample_cache.h"

// The first two bytes are the digest and the size that are expected.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto payload = bntt::cache_payload({data + 2, size - 2}, data[0], data[1]);
  BNTT_CHECK(!payload || payload->size() == data[1]);
  return 0;
}
