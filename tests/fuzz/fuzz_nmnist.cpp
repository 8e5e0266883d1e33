#include "fuzz_events.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  bntt::fuzz::parse_and_count(
      bntt::parse_nmnist, {data, size},
      {.sensor = {bntt::kNmnistSide, bntt::kNmnistSide}, .side = bntt::kNmnistSide});
  return 0;
}
