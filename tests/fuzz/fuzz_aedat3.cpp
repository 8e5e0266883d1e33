#include "fuzz_events.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  bntt::fuzz::parse_and_count(bntt::parse_aedat3, {data, size}, {});
  return 0;
}
