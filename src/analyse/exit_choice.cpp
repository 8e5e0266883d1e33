#include "analyse/exit_choice.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "analyse/exit_rule.h"

namespace bntt {

std::vector<double> work_until(const Network& network, const StepWindows& given,
                               bool constant_input) {
  const StepWindows windows = network.stage_windows(given);
  std::vector<double> work(active_steps(network.spec()), 0.0);
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    bool worked = false;
    for (int64_t step = 0; step < plan.active_steps; ++step) {
      const bool active = windows.empty() || windows.active[i][plan.first_step + step];
      const bool again = i == 0 && constant_input && worked;
      if (active && !again) work[step] += static_cast<double>(plan.macs);
      worked = worked || active;
    }
  }
  for (std::size_t step = 1; step < work.size(); ++step) work[step] += work[step - 1];
  return work;
}

std::vector<bool> right_at(const ExitAnswers& judged, int64_t step) {
  const Trajectory& trajectory = judged.trajectory;
  std::vector<bool> right;
  for (int64_t image = 0; image < judged.images(); ++image) {
    const int64_t at = image * trajectory.steps + step - trajectory.first_step;
    right.push_back(trajectory.predictions[at] == judged.labels[image]);
  }
  return right;
}

double accuracy_of(const std::vector<bool>& right) {
  return 100.0 * static_cast<double>(std::ranges::count(right, true)) /
         static_cast<double>(right.size());
}

SampleOutcome outcome_of(const ExitAnswers& judged, SampleExit measure, double limit,
                         int64_t last) {
  const Trajectory& trajectory = judged.trajectory;
  const std::vector<float>& values =
      measure == SampleExit::margin ? trajectory.margin : trajectory.confidence;
  const int64_t steps = last - trajectory.first_step + 1;
  SampleOutcome outcome;
  int64_t taken = 0;
  double work = 0.0;
  for (int64_t image = 0; image < judged.images(); ++image) {
    const int64_t begin = image * trajectory.steps;
    int64_t step = 0;
    while (step + 1 < steps && !(values[begin + step] >= limit)) ++step;
    outcome.right.push_back(trajectory.predictions[begin + step] == judged.labels[image]);
    taken += trajectory.first_step + step;
    work += judged.work[step];
  }
  const auto images = static_cast<double>(judged.images());
  outcome.mean_steps = static_cast<double>(taken) / images;
  outcome.mean_work = work / images;
  return outcome;
}

std::optional<SampleChoice> choose_limit(const ExitAnswers& judged, SampleExit measure,
                                         int64_t last, const LossLimit& loss) {
  std::optional<SampleChoice> best;
  for (int64_t hundredth = 100; hundredth >= 1; --hundredth) {
    const double limit = static_cast<double>(hundredth) / 100.0;
    SampleOutcome outcome = outcome_of(judged, measure, limit, last);
    if (!loss.holds(outcome.right)) break;
    best = {limit, std::move(outcome)};
  }
  return best;
}

std::vector<double> window_thresholds(const Network& network, bool constant_input) {
  constexpr double kPart = 0.125;
  std::set<double> magnitudes;
  const GainMeans means = gain_means(network);
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    if (means.magnitude[i].empty()) continue;
    const auto first = means.magnitude[i].begin() + network.stages()[i].first_step;
    std::copy_if(first, first + network.stages()[i].active_steps,
                 std::inserter(magnitudes, magnitudes.end()),
                 [](double magnitude) { return std::isfinite(magnitude); });
  }
  std::vector<double> thresholds;
  const double whole = work_until(network, {}, constant_input).back();
  double last_work = whole;
  for (auto magnitude = magnitudes.begin(); magnitude != magnitudes.end(); ++magnitude) {
    const auto next = std::next(magnitude);
    const double threshold = roundest_threshold(
        *magnitude, next == magnitudes.end() ? std::nullopt : std::optional(*next));
    const double work =
        work_until(network, layer_windows(network, threshold), constant_input).back();
    if (last_work - work < kPart * whole) continue;
    thresholds.push_back(threshold);
    last_work = work;
  }
  return thresholds;
}

}  // namespace bntt
