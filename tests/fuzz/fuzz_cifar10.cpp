#include <cstddef>
#include <cstdint>

#include "bntt/error.h"
#include "data/cifar10.h"

// The first byte says how many records are expected.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  bntt::ImageSet set = bntt::empty_cifar10();
  try {
    bntt::append_cifar10({data + 1, size - 1}, data[0], "fuzz", set);
  } catch (const bntt::Error&) {
  }
  return 0;
}
