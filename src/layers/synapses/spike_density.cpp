#include "layers/synapses/spike_density.h"

namespace bntt {
namespace {

double density_of(const SpikeTrain& spikes, const kernels::PooledMap& map, int64_t first,
                  int64_t frames) {
  int64_t count = 0;
  for (int64_t plane = 0; plane < spikes.planes(); ++plane) {
    count += kernels::count_spikes(spikes.frame(plane, 0, 0) + first * spikes.words_per_frame(),
                                   frames * spikes.words_per_frame());
  }
  return static_cast<double>(count) / static_cast<double>(frames * map.pooled().size());
}

}  // namespace

double spike_density(const SpikeTrain& spikes, const kernels::PooledMap& map, int64_t frame) {
  return density_of(spikes, map, frame, 1);
}

double spike_density(const SpikeTrain& spikes, const kernels::PooledMap& map) {
  return density_of(spikes, map, 0, spikes.steps() * spikes.batch());
}

}  // namespace bntt
