// Checks the arguments of the public functions before kernels rely on them.
#include <algorithm>

#include "base/fail.h"
#include "bntt/network.h"
#include "layers/norms/norm_checks.h"
#include "model/prepared_network.h"
#include "model/stage.h"

namespace bntt {
namespace {

[[noreturn]] void fail_as_foreign(const char* what) {
  fail("network: the {} does not belong to this network", what);
}

struct WindowShape {
  int64_t steps = 0;
  int64_t batch = 0;
  MapShape map;

  bool is_of(const Signal& signal) const {
    return signal_steps(signal) == steps && signal_batch(signal) == batch &&
           signal_shape(signal) == map;
  }
};

bool fits(const BranchTrace& trace, const Branch& branch, const WindowShape& window,
          bool constant_input) {
  if (trace.current_constant != constant_input) return false;
  if (trace.stored_steps != branch.working().stored_steps()) return false;
  const int64_t frames = window.batch * (constant_input ? 1 : branch.working().count());
  const int64_t currents = frames * window.map.size();
  const auto all_or_none = [&](int64_t size) { return size == currents || size == 0; };
  const NormTrace& norm = trace.norm;
  const int64_t rows = branch.norm().per_image() ? window.batch : 1;
  const int64_t affine = window.steps * rows * window.map.channels;
  return all_or_none(trace.current.size()) && all_or_none(trace.half_current.size()) &&
         norm.rows_per_step == rows && norm.mean.size() == affine &&
         norm.inverse_deviation.size() == affine && norm.scale.size() == affine &&
         norm.shift.size() == affine;
}

bool fits(const DroppedOutput& dropped, const Signal& output, const WindowShape& window) {
  const SpikeTrain& kept = dropped.kept;
  check_signal(kept);
  check_signal(dropped.output);
  return (kept.steps() == 1 || kept.steps() == window.steps) && kept.planes() == 1 &&
         kept.batch() == window.batch && kept.shape() == window.map &&
         dropped.output.index() == output.index() && window.is_of(dropped.output);
}

}  // namespace

void Network::check_window(const Signal& window, int64_t steps_left) const {
  check_signal(window);
  const MapShape& shape = signal_shape(window);
  if (shape != spec_.input) {
    fail("network: input is {}x{}x{}, expected {}x{}x{} (channels x height x width)",
         shape.channels, shape.height, shape.width, spec_.input.channels, spec_.input.height,
         spec_.input.width);
  }
  if (signal_batch(window) < 1) {
    fail("network: input has {} images, expected at least 1", signal_batch(window));
  }
  if (steps_left == 0) {
    fail("network: all {} steps are done, but the input has another one", active_steps(spec_));
  }
  if (signal_steps(window) < 1 || signal_steps(window) > steps_left) {
    fail("network: input has {} steps, expected 1 to {}", signal_steps(window), steps_left);
  }
}

void Network::check_numbers() const {
  if (plans_.empty()) fail("network: was moved from");
  bool whole = sizes_.size() == parameters_.size() + statistics_.size();
  for (std::size_t i = 0; whole && i < parameters_.size(); ++i) {
    whole = parameters_[i].value.size() == sizes_[i];
  }
  for (std::size_t i = 0; whole && i < statistics_.size(); ++i) {
    whole = statistics_[i].value.size() == sizes_[parameters_.size() + i];
  }
  if (!whole) fail("network: a parameter or statistic has been removed, added or changed in size");
}

void Network::expect_trainable(const char* what) const {
  if (quantised()) fail("network: its weights are int8, which have {}: it cannot be trained", what);
}

const Network::StageRanges& Network::ranges_of(std::size_t stage) const {
  check_numbers();
  if (stage >= ranges_.size()) {
    fail("network: there is no stage {}, expected 0 to {}", stage, ranges_.size() - 1);
  }
  return ranges_[stage];
}

const Network::BranchRanges& Network::ranges_of(std::size_t stage, std::size_t branch) const {
  const std::vector<BranchRanges>& branches = ranges_of(stage).branches;
  if (branch >= branches.size()) {
    fail("network: stage {} has no branch {}, expected 0 to {}", stage, branch,
         branches.size() - 1);
  }
  return branches[branch];
}

void Network::check_trace(const Trace& trace) const {
  check_numbers();
  expect_norm_mode("trace", trace.mode);
  const int64_t steps = active_steps(spec_);
  check_window(trace.input, steps);
  const int64_t batch = signal_batch(trace.input);
  bool fitting = signal_steps(trace.input) == steps && trace.stages.size() == plans_.size() &&
                 trace.logits.size() == batch * classes_of(spec_);
  for (std::size_t i = 0; fitting && i < plans_.size(); ++i) {
    const StagePlan& plan = plans_[i];
    const StageTrace& stage = trace.stages[i];
    const WindowShape window{steps, batch, plan.output};
    check_signal(stage.output);
    fitting = stage.branches.size() == plan.branches.size() && window.is_of(stage.output) &&
              std::holds_alternative<SpikeTrain>(stage.output) == plan.spikes() &&
              (!stage.dropped || fits(*stage.dropped, stage.output, window));
    for (std::size_t b = 0; fitting && b < plan.branches.size(); ++b) {
      const int64_t source = plan.branches[b].sources.front();
      const Signal& input =
          source == BranchPlan::kInput ? trace.input : trace.stages[source].handed_on();
      fitting = fits(stage.branches[b], stages_[i]->branches()[b], window, is_constant(input));
    }
  }
  if (!fitting) fail_as_foreign("trace");
}

// A state reads the weights where they were when it was started, and has its own copy of the
// scales.
void Network::check_prepared(const ChainState& state) const {
  check_numbers();
  auto scales = weight_scales_.begin();
  bool own = state.prepared != nullptr && state.prepared->stages.size() == plans_.size();
  for (std::size_t i = 0; own && i < plans_.size(); ++i) {
    const auto& prepared = state.prepared->stages[i];
    own = prepared.size() == plans_[i].branches.size();
    for (std::size_t b = 0; own && b < prepared.size(); ++b) {
      own = prepared[b]->plain() == weights_of(i, b).data() &&
            std::ranges::equal(prepared[b]->scales(), *scales++);
    }
  }
  if (!own) fail_as_foreign("state");
}

void Network::check_state(const ChainState& state) const {
  check_prepared(state);
  bool fitting =
      state.batch >= 1 && state.steps_done >= 0 && state.steps_done <= active_steps(spec_) &&
      state.membranes.size() == plans_.size() && state.constant_currents.size() == plans_.size();
  for (std::size_t i = 0; fitting && i < plans_.size(); ++i) {
    const int64_t size = state.batch * plans_[i].output.size();
    const int64_t membranes = state.batch * stages_[i]->neurons().state_size(plans_[i].output);
    fitting = state.membranes[i].size() == membranes &&
              state.constant_currents[i].size() == plans_[i].branches.size();
    for (const Buffer<float>& current : state.constant_currents[i]) {
      fitting = fitting && (current.empty() || current.size() == size);
    }
  }
  if (!fitting) fail_as_foreign("state");
}

void Network::check_windows(const LearnedWindows& windows) const {
  bool fitting = windows.active.size() == plans_.size();
  for (std::size_t i = 0; fitting && i < plans_.size(); ++i) {
    fitting = windows.active[i].size() == plans_[i].branches.size();
    for (const auto& steps : windows.active[i]) {
      fitting = fitting && std::ssize(steps) == spec_.steps;
    }
  }
  if (!fitting) {
    fail("network: the learned windows are not those of {} stages and {} steps", plans_.size(),
         spec_.steps);
  }
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    const StagePlan& plan = plans_[i];
    for (std::size_t b = 0; b < plan.branches.size(); ++b) {
      const auto first = windows.active[i][b].begin() + plan.first_step;
      const auto working = std::count(first, first + plan.active_steps, true);
      if (working == 0) {
        fail("network: {} works at none of its {} steps, expected at least one",
             plan.branches[b].name, plan.active_steps);
      }
      if (working < plan.active_steps && !can_switch_steps(i, b)) {
        fail(
            "network: steps of {} are switched off, but its norm '{}' is not one with a gain for "
            "every step and no shift",
            plan.branches[b].name, plan.branches[b].norm.kind);
      }
    }
  }
}

void Network::check_options(const AdvanceOptions& options) const {
  const auto is_per_stage = [&](const auto& lists) {
    bool fitting = lists.size() == plans_.size();
    for (const auto& of_stage : lists) fitting = fitting && std::ssize(of_stage) >= spec_.steps;
    return fitting;
  };
  if (options.windows != nullptr && !options.windows->empty() &&
      !is_per_stage(options.windows->active)) {
    fail("network: the windows do not fit {} stages and {} steps", plans_.size(), spec_.steps);
  }
  if (options.activity != nullptr && !options.activity->spikes.empty() &&
      !is_per_stage(options.activity->spikes)) {
    fail_as_foreign("activity");
  }
}

}  // namespace bntt
