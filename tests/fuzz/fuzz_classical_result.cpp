#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "bntt/error.h"
#include "classical/result.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const bntt::ClassicalResult result = bntt::classical_result_from_json(text, "fuzz");
    const std::string written = bntt::to_json(result).dump();
    BNTT_CHECK(bntt::to_json(bntt::classical_result_from_json(written, "again")).dump() == written);
  } catch (const bntt::Error&) {
  }
  try {
    bntt::classical_times_from_json(text, "fuzz");
  } catch (const bntt::Error&) {
  }
  return 0;
}
