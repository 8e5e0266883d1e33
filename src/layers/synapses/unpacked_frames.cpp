#include "layers/synapses/unpacked_frames.h"

#include <algorithm>

#include "kernels/kernel_set.h"
#include "layers/synapses/synapse.h"

namespace bntt {

kernels::PooledMap pool_of(const BranchPlan& plan) {
  if (plan.pool == PoolKind::max) return {plan.input};
  return {plan.source, plan.pool_height, plan.pool_width, plan.pool};
}

void unpack_frames(const Signal& signal, const kernels::PooledMap& map, int64_t first,
                   int64_t count, float* dense) {
  const int64_t size = map.pooled().size();
  const int64_t real = std::clamp<int64_t>(stored_frames(signal) - first, 0, count);
  if (const auto* values = std::get_if<DenseTrain>(&signal)) {
    for (int64_t f = 0; f < real; ++f) {
      kernels::pool_frame(map, values->values.data() + (first + f) * map.source.size(),
                          dense + f * size);
    }
    std::fill(dense + real * size, dense + count * size, 0.0F);
    return;
  }
  const auto& spikes = std::get<SpikeTrain>(signal);
  std::fill_n(dense, count * size, 0.0F);
  for (int64_t plane = 0; plane < spikes.planes(); ++plane) {
    for (int64_t f = 0; f < real; ++f) {
      const SpikeWord* words = spikes.frame(plane, 0, 0) + (first + f) * spikes.words_per_frame();
      kernels::kernels().add_spikes(map, words, spikes.plane_weights()[plane], dense + f * size);
    }
  }
}

}  // namespace bntt
