#include "analyse/exit_rule.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bntt {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

int64_t first_exit(const NetworkSpec& spec) { return spec.steps - active_steps(spec) + 1; }

/// Whether every step has its own row of γ.
bool has_step_gain(const Network& network, std::size_t stage, std::size_t branch) {
  const Parameter* gain = network.gain(stage, branch);
  return gain != nullptr && gain->pytorch_shape.size() == 2;
}

/// The largest ḡ of the steps after each step: [step], with step 0 before the first.
std::vector<double> largest_later_mean(const Network& network) {
  const GainMeans means = gain_means(network);
  std::vector<double> largest(network.spec().steps + 1, kNever);
  for (int64_t step = network.spec().steps - 1; step >= 0; --step) {
    largest[step] = largest[step + 1];
    for (std::size_t i = 0; i < network.stages().size(); ++i) {
      const StagePlan& plan = network.stages()[i];
      const bool active = step >= plan.first_step && step < plan.first_step + plan.active_steps;
      if (active && !means.signed_mean[i].empty()) {
        largest[step] = std::max(largest[step], means.signed_mean[i][step]);
      }
    }
  }
  return largest;
}

}  // namespace

GainMeans gain_means(const Network& network) {
  GainMeans means;
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    auto& signed_mean = means.signed_mean.emplace_back();
    auto& magnitude = means.magnitude.emplace_back();
    const StagePlan& plan = network.stages()[i];
    const int64_t channels = plan.output.channels;
    bool every_branch = true;
    for (std::size_t b = 0; b < plan.branches.size(); ++b) {
      if (!has_step_gain(network, i, b)) {
        every_branch = false;
        continue;
      }
      signed_mean.resize(network.spec().steps, kNever);
      magnitude.resize(network.spec().steps, kNever);
      const Buffer<float>& gain = network.gain(i, b)->value;
      for (int64_t step = 0; step < network.spec().steps; ++step) {
        double sum = 0.0;
        double sum_magnitude = 0.0;
        for (int64_t c = 0; c < channels; ++c) {
          sum += gain[step * channels + c];
          sum_magnitude += std::abs(gain[step * channels + c]);
        }
        signed_mean[step] = std::max(signed_mean[step], sum / static_cast<double>(channels));
        magnitude[step] = std::max(magnitude[step], sum_magnitude / static_cast<double>(channels));
      }
    }
    if (!every_branch) magnitude.clear();
  }
  return means;
}

bool has_step_gains(const Network& network) {
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    for (std::size_t b = 0; b < network.stages()[i].branches.size(); ++b) {
      if (has_step_gain(network, i, b)) return true;
    }
  }
  return false;
}

int64_t exit_step(const Network& network, double threshold) {
  const std::vector<double> largest = largest_later_mean(network);
  int64_t step = first_exit(network.spec());
  while (step < network.spec().steps && !(largest[step] < threshold)) ++step;
  return step;
}

double roundest_threshold(const std::optional<double>& above, const std::optional<double>& up_to) {
  if (!above) return up_to && *up_to < 0.0 ? *up_to : 0.0;
  double scale = 1.0;
  for (int digits = 1; digits < 15; ++digits) {
    scale *= 10.0;
    const double candidate = (std::floor(*above * scale) + 1.0) / scale;
    if (candidate > *above && (!up_to || candidate <= *up_to)) return candidate;
  }
  // The bounds are so close, or the numbers so large, that no short decimal lies between them.
  return up_to ? *up_to : std::nextafter(*above, std::numeric_limits<double>::infinity());
}

std::vector<ExitInterval> exit_intervals(const Network& network) {
  std::vector<ExitInterval> intervals;
  if (!has_step_gains(network)) return intervals;
  const std::vector<double> largest = largest_later_mean(network);
  const int64_t first = first_exit(network.spec());
  for (int64_t step = network.spec().steps; step >= first; --step) {
    ExitInterval interval{.exit_step = step};
    if (step < network.spec().steps) interval.above = largest[step];
    if (step > first) interval.up_to = largest[step - 1];
    if (interval.above && interval.up_to && !(*interval.above < *interval.up_to)) continue;
    interval.threshold = roundest_threshold(interval.above, interval.up_to);
    intervals.push_back(interval);
  }
  return intervals;
}

StepWindows layer_windows(const Network& network, double threshold) {
  const GainMeans means = gain_means(network);
  StepWindows windows;
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    std::vector<bool>& active = windows.active.emplace_back(network.spec().steps, true);
    for (std::size_t step = 0; step < means.magnitude[i].size(); ++step) {
      active[step] = !(means.magnitude[i][step] < threshold);
    }
  }
  return windows;
}

}  // namespace bntt
