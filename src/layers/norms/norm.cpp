#include "layers/norms/norm.h"

#include "layers/norms/batch_norm.h"
#include "layers/norms/layer_norm.h"
#include "layers/norms/no_norm.h"

namespace bntt {

std::unique_ptr<Norm> make_norm(const NormSpec& spec, int64_t channels, int64_t run_steps) {
  switch (spec.kind) {
    case NormKind::none:
      return std::make_unique<NoNorm>(spec, channels, run_steps);
    case NormKind::bntt:
      return std::make_unique<BatchNormThroughTime>(spec, channels, run_steps);
    case NormKind::bn:
      return std::make_unique<BatchNormPerStep>(spec, channels, run_steps);
    case NormKind::bn_time:
      return std::make_unique<BatchNormOverTime>(spec, channels, run_steps);
    case NormKind::layer:
      return std::make_unique<LayerNorm>(spec, channels, run_steps);
  }
  return nullptr;
}

}  // namespace bntt
