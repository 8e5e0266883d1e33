#include "bntt/session.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/fail.h"
#include "base/text.h"
#include "model/stopping.h"

namespace bntt {

Buffer<float> Session::membranes(std::string_view stage) const {
  const std::vector<StagePlan>& plans = network_->stages();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (plans[i].name == stage) return network_->membranes(state_, i);
    names.push_back(plans[i].name);
  }
  fail("session: no stage is called '{}', expected one of {}", excerpt(stage),
       fmt::join(names, ", "));
}

std::vector<float> Session::probabilities(int64_t image) const {
  if (image < 0 || image >= state_.batch) {
    fail("session: image {} is out of range, expected 0 to {}", image, state_.batch - 1);
  }
  const NetworkSpec& spec = network_->spec();
  const int64_t idle = spec.steps - active_steps(spec);
  Buffer<float> logits = network_->logits(state_);
  const int64_t steps = idle + std::max<int64_t>(1, state_.steps_done);
  for (float& logit : logits) logit *= stopped_logit_scale(spec, steps);
  const auto classes = static_cast<std::size_t>(classes_of(spec));
  return probabilities_of(
      logits.span().subspan(static_cast<std::size_t>(image) * classes, classes));
}

}  // namespace bntt
