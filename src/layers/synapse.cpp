#include "layers/synapse.h"

#include "layers/conv_synapse.h"
#include "layers/dense_synapse.h"

namespace bntt {

std::unique_ptr<Synapse> make_synapse(const StagePlan& plan) {
  if (plan.synapse == SynapseKind::conv3x3) return std::make_unique<ConvSynapse>(plan);
  return std::make_unique<DenseSynapse>(plan);
}

int64_t stored_frames(const Signal& signal) {
  const auto* dense = std::get_if<DenseTrain>(&signal);
  const int64_t steps = dense != nullptr ? dense->stored_steps() : signal_steps(signal);
  return steps * signal_batch(signal);
}

}  // namespace bntt
