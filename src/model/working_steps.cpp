#include "model/working_steps.h"

#include <algorithm>

#include "base/check.h"

namespace bntt {

WorkingSteps::WorkingSteps(const std::vector<bool>& active)
    : active_(active),
      steps_(std::ssize(active)),
      count_(std::count(active.begin(), active.end(), true)) {
  BNTT_CHECK(count_ > 0);
  int64_t stored = 0;
  for (int64_t begin = 0, end = 0; begin < steps_; begin = end) {
    end = begin + 1;
    if (!active_[begin]) continue;
    while (end < steps_ && active_[end]) ++end;
    runs_.push_back({begin, end, stored});
    stored += end - begin;
  }
  if (all()) return;
  int64_t next = 0;  // the first stored step that is not before this one
  for (int64_t step = 0; step < steps_; ++step) {
    stored_steps_.push_back(std::min(next, count_ - 1));
    if (active_[step]) ++next;
  }
}

Signal WorkingSteps::pick(const Signal& input) const {
  const auto* dense = std::get_if<DenseTrain>(&input);
  if (dense != nullptr && dense->constant) return slice_steps(input, 0, count_);
  std::vector<Signal> parts;
  for (const StepRun& run : runs_) parts.push_back(slice_steps(input, run.begin, run.size()));
  return join_steps(parts);
}

}  // namespace bntt
