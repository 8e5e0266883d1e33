#include "kernels/bfloat16.h"

namespace bntt::kernels {

// A plain loop over bits, which the compiler vectorises.
void round_to_bfloat16(float* values, int64_t count, BFloat16* halves) {
  for (int64_t i = 0; i < count; ++i) {
    halves[i] = rounded_to_bfloat16(values[i]);
    values[i] = widened(halves[i]);
  }
}

}  // namespace bntt::kernels
