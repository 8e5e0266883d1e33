#include "data/prophesee_files.h"
#include "fuzz_events.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  constexpr int64_t kSide = bntt::kLargestSensorSide;
  const auto parse = [](std::span<const uint8_t> bytes, const std::string& origin) {
    return bntt::parse_dat(bytes, origin).events;
  };
  bntt::fuzz::parse_and_count(parse, {data, size}, {.sensor = {kSide, kSide}, .side = 34});
  return 0;
}
