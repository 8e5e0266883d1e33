#pragma once

#include <cstdint>
#include <vector>

#include "bntt/signal.h"

namespace bntt {

/// Neighbouring steps [begin, end) at which a branch works.
struct StepRun {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t stored = 0;  // working steps before it

  int64_t size() const { return end - begin; }
};

/// The steps of a stage's window at which a branch works. Nothing is computed or stored for the
/// others: their rows of γ are 0 for good, so y = γ x̂ adds nothing, and no gradient reaches x.
class WorkingSteps {
 public:
  /// `active` [step] has at least one step that works.
  explicit WorkingSteps(const std::vector<bool>& active);

  bool all() const { return count_ == steps_; }
  int64_t steps() const { return steps_; }
  int64_t count() const { return count_; }
  bool works(int64_t step) const { return active_[step]; }
  const std::vector<StepRun>& runs() const { return runs_; }
  /// Where the currents of each step lie among the stored ones. A step that is off has a scale of 0
  /// and reads those of a neighbour, which are in cache. Empty if every step works.
  const std::vector<int64_t>& stored_steps() const { return stored_steps_; }

  /// The input at the working steps alone.
  Signal pick(const Signal& input) const;

 private:
  std::vector<bool> active_;
  int64_t steps_ = 0;
  int64_t count_ = 0;
  std::vector<StepRun> runs_;
  std::vector<int64_t> stored_steps_;
};

}  // namespace bntt
