#include "fuzz_events.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  bntt::fuzz::parse_and_count(bntt::parse_aedat2, {data, size},
                              {.turn = bntt::SensorTurn::half_and_swap});
  return 0;
}
