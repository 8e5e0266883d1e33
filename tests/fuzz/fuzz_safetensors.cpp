#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/safetensors.h"
#include "bntt/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  try {
    const bntt::TensorFile file = bntt::parse_tensors({data, size}, "fuzz");
    const auto bytes = bntt::format_tensors(file);
    const auto again = bntt::parse_tensors(bytes, "again", {.require_checksum = true});
    BNTT_CHECK(again.metadata == file.metadata && again.tensors.size() == file.tensors.size());
  } catch (const bntt::Error&) {
  }
  return 0;
}
