#include "kernels/simd_kernels.h"

#include <hwy/highway.h>

namespace bntt::kernels {
namespace {

/// Whether the operating system saves the registers too. Highway checks only the processor if the
/// system has disabled XSAVE, as Linux does with `noxsave`.
bool system_supports(int64_t target) {
#if HWY_ARCH_X86
  return target == HWY_AVX3 ? __builtin_cpu_supports("avx512f") : __builtin_cpu_supports("avx2");
#else
  return target != 0;
#endif
}

}  // namespace

std::vector<KernelSet> simd_kernels() {
  struct Named {
    int64_t target;
    const char* name;
  };
  std::vector<KernelSet> sets;
  const int64_t supported = hwy::SupportedTargets();
  for (const Named named : {Named{HWY_AVX3, "avx512"}, Named{HWY_AVX2, "avx2"}}) {
    if ((supported & named.target) == 0 || !system_supports(named.target)) continue;
    hwy::GetChosenTarget().Update(named.target);
    KernelSet& set = sets.emplace_back();
    set.name = named.name;
    set_neuron_kernels(set);
    set_lee_kernels(set);
    set_spike_kernels(set);
    set_spike_convolution_kernels(set);
    set_integer_kernels(set);
    set_winograd_kernels(set);
    set.bf16 = named.target == HWY_AVX3 && has_bf16_instruction() ? avx512_bf16_kernels()
                                                                  : reference_bf16_kernels();
  }
  hwy::GetChosenTarget().DeInit();
  return sets;
}

}  // namespace bntt::kernels
