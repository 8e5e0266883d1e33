#include "kernels/simd_kernels.h"

#include <hwy/highway.h>

#include <array>

#include "kernels/eight_channels.h"

namespace bntt::kernels {
namespace {

struct NamedTarget {
  int64_t target;
  const char* name;
};

#if HWY_ARCH_X86
constexpr NamedTarget kOffered[] = {{HWY_AVX3, "avx512"}, {HWY_AVX2, "avx2"}};

/// Whether the operating system saves the registers too. Highway checks only the processor if the
/// system has disabled XSAVE, as Linux does with `noxsave`.
bool runs_here(int64_t target) {
  if ((hwy::SupportedTargets() & target) == 0) return false;
  return target == HWY_AVX3 ? __builtin_cpu_supports("avx512f") : __builtin_cpu_supports("avx2");
}
#elif HWY_ARCH_ARM_A64
constexpr NamedTarget kOffered[] = {{HWY_NEON, "neon"}};

/// Every 64-bit ARM processor has NEON. We do not query Highway: its NEON target also requires AES,
/// which a Raspberry Pi 4 lacks and the kernels do not use.
bool runs_here(int64_t) { return true; }
#else
constexpr std::array<NamedTarget, 0> kOffered;

bool runs_here(int64_t) { return false; }
#endif

}  // namespace

std::vector<KernelSet> simd_kernels() {
  std::vector<KernelSet> sets;
  for (const NamedTarget& offered : kOffered) {
    if (!runs_here(offered.target)) continue;
    hwy::GetChosenTarget().Update(offered.target);
    KernelSet& set = sets.emplace_back();
    set.name = offered.name;
    set_neuron_kernels(set);
    set_lee_kernels(set);
    set_spike_kernels(set);
    set_spike_convolution_kernels(set);
    set_integer_kernels(set);
    set_winograd_kernels(set);
    set.bf16 = offered.target == HWY_AVX3 && has_bf16_instruction() ? avx512_bf16_kernels()
                                                                    : reference_bf16_kernels();
  }
  hwy::GetChosenTarget().DeInit();
  if (sets.size() == 2) use_for_eight_channels(sets[1], sets[0]);  // AVX2's, for AVX-512
  return sets;
}

}  // namespace bntt::kernels
