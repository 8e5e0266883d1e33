#include <cstddef>
#include <cstdint>

#include "bntt/error.h"
#include "data/idx.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  for (const int rank : {1, 3}) {
    try {
      bntt::parse_idx({data, size}, rank, "fuzz");
    } catch (const bntt::Error&) {
    }
  }
  return 0;
}
