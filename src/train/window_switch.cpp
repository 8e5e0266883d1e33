#include "train/window_switch.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/fail.h"
#include "model/learned_windows.h"

namespace bntt {
namespace {

/// A step of a branch that could be switched off.
struct Row {
  std::size_t stage = 0;
  std::size_t branch = 0;
  int64_t step = 0;  // of the run
  double magnitude = 0.0;
};

double mean_magnitude(const Parameter& gain, int64_t step, int64_t channels) {
  double sum = 0.0;
  for (int64_t c = 0; c < channels; ++c) sum += std::abs(gain.value[step * channels + c]);
  return sum / static_cast<double>(channels);
}

/// The working steps of every branch but its strongest, smallest mean |γ| first.
std::vector<Row> switchable_rows(const Network& network, const LearnedWindows& windows) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    for (std::size_t b = 0; b < plan.branches.size(); ++b) {
      if (!network.can_switch_steps(i, b)) continue;
      std::vector<Row> of_branch;
      for (int64_t step = plan.first_step; step < plan.first_step + plan.active_steps; ++step) {
        if (!windows.active[i][b][step]) continue;
        of_branch.push_back(
            {i, b, step, mean_magnitude(*network.gain(i, b), step, plan.output.channels)});
      }
      of_branch.erase(std::ranges::max_element(of_branch, {}, &Row::magnitude));
      rows.insert(rows.end(), of_branch.begin(), of_branch.end());
    }
  }
  std::ranges::stable_sort(rows, {}, &Row::magnitude);
  return rows;
}

/// The work that is to be left after the switching epoch with this place among `count`: the same
/// part of it goes at each.
double work_goal(double goal, std::size_t place, std::size_t count) {
  return 1.0 - (1.0 - goal) * static_cast<double>(place + 1) / static_cast<double>(count);
}

/// The largest threshold whose windows leave at least this share of the work.
double threshold_for(double goal, bool constant_input, const Network& network,
                     const std::vector<Row>& rows, LearnedWindows windows) {
  double threshold = 0.0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    windows.active[rows[r].stage][rows[r].branch][rows[r].step] = false;
    const bool tied = r + 1 < rows.size() && rows[r + 1].magnitude == rows[r].magnitude;
    if (tied) continue;
    if (work_left(network, windows, constant_input) < goal) break;
    threshold = std::nextafter(rows[r].magnitude, std::numeric_limits<double>::infinity());
  }
  return threshold;
}

void forget(const Row& row, const Network& network, Optimizer& optimizer) {
  const Parameter* gain = network.gain(row.stage, row.branch);
  const auto index = static_cast<std::size_t>(gain - network.parameters().data());
  const int64_t channels = network.stages()[row.stage].output.channels;
  for (Optimizer::Memory& memory : optimizer.memories()) {
    std::fill_n(memory.values[index].data() + row.step * channels, channels, 0.0F);
  }
}

/// What is left if every branch that can switch steps keeps one.
double least_work(const Network& network, bool constant_input) {
  LearnedWindows windows = all_steps(network);
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    for (std::size_t b = 0; b < network.stages()[i].branches.size(); ++b) {
      if (!network.can_switch_steps(i, b)) continue;
      auto& active = windows.active[i][b];
      active.assign(active.size(), false);
      active[network.stages()[i].first_step] = true;
    }
  }
  return work_left(network, windows, constant_input);
}

void expect_switchable(const Network& network, const char* setting) {
  const BranchPlan* refused = nullptr;
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    for (std::size_t b = 0; b < network.stages()[i].branches.size(); ++b) {
      if (network.can_switch_steps(i, b)) return;
      if (refused == nullptr) refused = &network.stages()[i].branches[b];
    }
  }
  fail(
      "{}: the norm of {} is '{}'{}, expected one with a gain for every step and no shift, as bntt",
      setting, refused->name, refused->norm.kind, refused->norm.shift ? " with a shift" : "");
}

}  // namespace

bool learns_windows(const TrainConfig& train) {
  return train.window_threshold.has_value() || train.window_work.has_value();
}

void expect_window_settings(const TrainConfig& train, const Network& network, bool constant_input) {
  if (!learns_windows(train)) return;
  if (train.window_threshold && train.window_work) {
    fail("train.window_threshold is {} and train.window_work is {}, expected one of them",
         *train.window_threshold, *train.window_work);
  }
  if (train.window_from >= train.window_until) {
    fail("train.window_from is {}, expected less than train.window_until, which is {}",
         train.window_from, train.window_until);
  }
  if (train.epochs > 0 && switching_epochs(train).empty()) {
    fail(
        "train.window_from is {} and train.window_until is {}, but none of {} epochs ends between "
        "them",
        train.window_from, train.window_until, train.epochs);
  }
  expect_switchable(network, train.window_work ? "train.window_work" : "train.window_threshold");
  if (!train.window_work) return;
  const double least = least_work(network, constant_input);
  if (*train.window_work < least) {
    fail(
        "train.window_work is {}, expected at least {:.4f}: what is left if every layer works at "
        "one step",
        *train.window_work, least);
  }
}

std::vector<int64_t> switching_epochs(const TrainConfig& train) {
  std::vector<int64_t> epochs;
  for (int64_t epoch = 1; epoch <= train.epochs; ++epoch) {
    const double done = static_cast<double>(epoch) / static_cast<double>(train.epochs);
    if (done >= train.window_from && done <= train.window_until) epochs.push_back(epoch);
  }
  return epochs;
}

std::optional<WindowSwitch> switch_steps_off(const TrainConfig& train, int64_t epoch,
                                             bool constant_input, Network& network,
                                             Optimizer& optimizer) {
  if (!learns_windows(train)) return std::nullopt;
  const std::vector<int64_t> epochs = switching_epochs(train);
  const auto now = std::ranges::find(epochs, epoch);
  if (now == epochs.end()) return std::nullopt;
  LearnedWindows windows = windows_of(network);
  const std::vector<Row> rows = switchable_rows(network, windows);
  WindowSwitch result;
  if (train.window_threshold) {
    result.threshold = *train.window_threshold;
  } else {
    const auto place = static_cast<std::size_t>(now - epochs.begin());
    result.threshold = threshold_for(work_goal(*train.window_work, place, epochs.size()),
                                     constant_input, network, rows, windows);
  }
  for (const Row& row : rows) {
    if (!(row.magnitude < result.threshold)) break;
    windows.active[row.stage][row.branch][row.step] = false;
    forget(row, network, optimizer);
    ++result.switched;
  }
  network.set_windows(windows);
  result.work = work_left(network, windows, constant_input);
  return result;
}

}  // namespace bntt
