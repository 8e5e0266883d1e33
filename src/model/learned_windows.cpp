#include "model/learned_windows.h"

#include <algorithm>

#include "base/fail.h"
#include "base/text.h"

namespace bntt {
namespace {

constexpr char kWorks = '#';
constexpr char kRests = '.';

bool is_active(const StagePlan& plan, int64_t step) {
  return step >= plan.first_step && step < plan.first_step + plan.active_steps;
}

std::vector<bool> window_from_text(const std::string& text, const StagePlan& plan, int64_t steps,
                                   const std::string& place) {
  const bool whole = std::ssize(text) == steps && std::ranges::all_of(text, [](char letter) {
                       return letter == kWorks || letter == kRests;
                     });
  if (!whole) fail("{} is '{}', expected {} of '#' and '.'", place, excerpt(text), steps);
  std::vector<bool> active(steps, true);
  for (int64_t step = 0; step < steps; ++step) {
    if (is_active(plan, step)) active[step] = text[step] == kWorks;
  }
  const auto first = active.begin() + plan.first_step;
  if (std::count(first, first + plan.active_steps, true) == 0) {
    fail("{} is '{}', expected a step that works", place, text);
  }
  return active;
}

}  // namespace

LearnedWindows all_steps(const Network& network) {
  LearnedWindows windows;
  for (const StagePlan& plan : network.stages()) {
    windows.active.emplace_back(plan.branches.size(),
                                std::vector<bool>(network.spec().steps, true));
  }
  return windows;
}

LearnedWindows windows_of(const Network& network) {
  return network.windows().empty() ? all_steps(network) : network.windows();
}

double work_left(const Network& network, const LearnedWindows& windows, bool constant_input) {
  double left = 0.0;
  double whole = 0.0;
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    for (std::size_t b = 0; b < plan.branches.size(); ++b) {
      const BranchPlan& branch = plan.branches[b];
      const bool once = constant_input && branch.sources.front() == BranchPlan::kInput;
      int64_t working = plan.active_steps;
      if (!windows.empty()) {
        const auto first = windows.active[i][b].begin() + plan.first_step;
        working = std::count(first, first + plan.active_steps, true);
      }
      const auto macs = static_cast<double>(branch.macs);
      left += macs * static_cast<double>(once ? std::min<int64_t>(1, working) : working);
      whole += macs * static_cast<double>(once ? 1 : plan.active_steps);
    }
  }
  return whole > 0.0 ? left / whole : 1.0;
}

std::string window_text(const StagePlan& plan, const std::vector<bool>& active) {
  std::string text;
  for (int64_t step = 0; step < std::ssize(active); ++step) {
    text += active[step] && is_active(plan, step) ? kWorks : kRests;
  }
  return text;
}

Json windows_json(const Network& network) {
  Json json = Json::object();
  const LearnedWindows windows = windows_of(network);
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    for (std::size_t b = 0; b < plan.branches.size(); ++b) {
      const std::vector<bool>& active = windows.active[i][b];
      if (std::ranges::all_of(active, [](bool works) { return works; })) continue;
      json[plan.branches[b].name] = window_text(plan, active);
    }
  }
  return json;
}

LearnedWindows windows_from_json(const Json& json, const Network& network,
                                 const std::string& origin) {
  if (!json.is_object()) fail("{}: are not a table of branches", origin);
  LearnedWindows windows = all_steps(network);
  std::size_t known = 0;
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    for (std::size_t b = 0; b < plan.branches.size(); ++b) {
      const std::string& name = plan.branches[b].name;
      const auto found = json.find(name);
      if (found == json.end()) continue;
      ++known;
      if (!network.can_switch_steps(i, b)) {
        fail("{}: {} has a norm '{}', whose steps cannot be switched off", origin, name,
             plan.branches[b].norm.kind);
      }
      if (!found->is_string()) fail("{}: {} is not a text of '#' and '.'", origin, name);
      windows.active[i][b] = window_from_text(found->get<std::string>(), plan, network.spec().steps,
                                              origin + ": " + name);
    }
  }
  if (known != json.size()) fail("{}: name a branch that the network does not have", origin);
  return windows;
}

}  // namespace bntt
