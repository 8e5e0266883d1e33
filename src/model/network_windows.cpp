#include <algorithm>

#include "bntt/network.h"
#include "model/stage.h"

namespace bntt {

bool Network::can_switch_steps(std::size_t stage, std::size_t branch) const {
  ranges_of(stage, branch);  // throws where there is none
  return stages_[stage]->branches()[branch].norm().zero_gain_silences_step();
}

void Network::set_windows(LearnedWindows windows) {
  check_numbers();
  if (!windows.empty()) check_windows(windows);
  bool any_off = false;
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    const StagePlan& plan = plans_[i];
    for (std::size_t b = 0; b < plan.branches.size(); ++b) {
      std::vector<bool> active(plan.active_steps, true);
      for (int64_t step = 0; step < plan.active_steps && !windows.empty(); ++step) {
        active[step] = windows.active[i][b][plan.first_step + step];
        if (active[step]) continue;
        any_off = true;
        const int64_t channels = plan.output.channels;
        Parameter& gain = parameters_[ranges_[i].branches[b].norm.begin];
        std::fill_n(gain.value.data() + (plan.first_step + step) * channels, channels, 0.0F);
      }
      stages_[i]->branches()[b].set_working(WorkingSteps(active));
    }
  }
  windows_ = any_off ? std::move(windows) : LearnedWindows{};
}

StepWindows Network::stage_windows(const StepWindows& others) const {
  check_options({.windows = &others});
  if (windows_.empty()) return others;
  StepWindows result = others;
  if (result.empty()) {
    result.active.assign(plans_.size(), std::vector<bool>(spec_.steps, true));
  }
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    for (int64_t step = 0; step < spec_.steps; ++step) {
      bool any = false;
      for (const auto& branch : windows_.active[i]) any = any || branch[step];
      if (!any) result.active[i][step] = false;
    }
  }
  return result;
}

}  // namespace bntt
