#include "kernels/bfloat16.h"

namespace bntt::kernels {

// A plain loop over bits, which the compiler vectorises.
void round_to_bfloat16(float* values, int64_t count, BFloat16* halves) {
  for (int64_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<uint32_t>(values[i]);
    const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
    const uint32_t rounded = nan ? bits | 0x10000U : bits + 0x7fffU + (bits >> 16 & 1U);
    halves[i] = static_cast<BFloat16>(rounded >> 16);
    values[i] = std::bit_cast<float>(rounded & 0xffff0000U);
  }
}

}  // namespace bntt::kernels
