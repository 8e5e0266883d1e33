#pragma once

#include "bntt/network.h"

namespace bntt {

inline int64_t neurons_of(const Network& network) {
  int64_t neurons = 0;
  for (const StagePlan& plan : network.stages()) neurons += plan.output.size();
  return neurons;
}

/// Whether a single step of so many images is enough work to wake all threads for each of its
/// stages, which takes some ten microseconds each time; a neuron's step takes a few nanoseconds.
inline bool step_feeds_all_threads(const Network& network, int64_t images) {
  constexpr int64_t kNeurons = 1 << 16;
  return images * neurons_of(network) >= kNeurons;
}

}  // namespace bntt
