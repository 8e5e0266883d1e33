#include "model/stopping.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"

namespace bntt {

int64_t images_per_batch(const Network& network, int64_t steps) {
  constexpr int64_t kCurrentFloats = 64 << 20;
  int64_t largest = 1;
  for (const StagePlan& plan : network.stages()) largest = std::max(largest, plan.output.size());
  return std::clamp<int64_t>(kCurrentFloats / (largest * steps), 1, 100);
}

int64_t active_steps_until(const NetworkSpec& spec, int64_t steps) {
  const int64_t idle = spec.steps - active_steps(spec);
  if (steps == 0) return spec.steps - idle;
  if (steps > spec.steps || steps <= idle) {
    fail("steps: {} is out of range, expected {} to {} for this network", steps, idle + 1,
         spec.steps);
  }
  return steps - idle;
}

float stopped_logit_scale(const NetworkSpec& spec, int64_t steps) {
  const auto& readout = readout_of(spec);
  return readout.divide_by_steps ? static_cast<float>(spec.steps) / static_cast<float>(steps)
                                 : 1.0F;
}

double exit_confidence(std::span<const float> logits, const NetworkSpec& spec, int64_t steps) {
  const float scale = static_cast<float>(spec.steps) / static_cast<float>(steps);
  const float largest = *std::ranges::max_element(logits);
  double sum = 0.0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(scale) * (logit - largest));
  }
  return 1.0 / sum;
}

}  // namespace bntt
