#include "data/prophesee_files.h"
#include "fuzz_events.h"

// The words alone: fuzz_recording has the header.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const auto decode = [](std::span<const uint8_t> bytes, const std::string& origin) {
    return bntt::decode_evt2(bytes, 0, origin);
  };
  bntt::fuzz::parse_and_count(decode, {data, size}, {.sensor = {2048, 2048}, .side = 34});
  return 0;
}
