// Not an ordinary header: compiles HWY_TARGET_INCLUDE for each supported target.
// SVE is left out: the compiler does not know the size of its vectors, so they cannot be kept in
// arrays. Processors that have it run NEON.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
