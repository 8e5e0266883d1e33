#include <cstddef>
#include <cstdint>

#include "bntt/error.h"
#include "data/cifar.h"

// The first byte says how many records are expected, its lowest bit which format.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  bntt::CifarRecords records;
  const bntt::CifarFormat format =
      (data[0] & 1) == 0 ? bntt::cifar10_format() : bntt::cifar100_format(bntt::Labels::fine);
  try {
    bntt::append_cifar({data + 1, size - 1}, data[0] >> 1, format, "fuzz", records);
  } catch (const bntt::Error&) {
  }
  return 0;
}
