#include "train/memory_need.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/stopping.h"

namespace bntt {
namespace {

constexpr int64_t kFloat = sizeof(float);

int64_t parameters_of(const std::vector<StagePlan>& plans) {
  int64_t parameters = 0;
  for (const StagePlan& plan : plans) parameters += plan.parameters;
  return parameters;
}

int64_t spike_bytes(const MapShape& map) {
  constexpr int64_t kWordBits = 64;
  const int64_t words = (map.channels + kWordBits - 1) / kWordBits;
  return words * static_cast<int64_t>(sizeof(uint64_t)) * map.height * map.width;
}

/// Of one step of one image.
int64_t output_bytes(const StagePlan& plan) {
  const bool real_valued = !plan.spikes() && !plan.readout;
  return real_valued ? plan.output.size() * kFloat : spike_bytes(plan.output);
}

}  // namespace

int64_t training_bytes(const NetworkSpec& spec, int64_t batch, Precision precision) {
  const std::vector<StagePlan> plans = plan_stages(spec);
  const int64_t current_bytes = keeps_halves(precision) ? kFloat / 2 : kFloat;
  const int64_t gradient_bytes = precision == Precision::bf16 ? kFloat / 2 : kFloat;
  int64_t kept = 0;
  int64_t working = 0;
  for (const StagePlan& plan : plans) {
    const int64_t frames = batch * plan.active_steps;
    const auto branches = static_cast<int64_t>(plan.branches.size());
    kept += frames * (branches * plan.output.size() * current_bytes + output_bytes(plan));
    working = std::max(working, 2 * frames * plan.output.size() * gradient_bytes);
  }
  return 3 * parameters_of(plans) * kFloat + kept + working;
}

int64_t evaluation_bytes(const NetworkSpec& spec, int64_t batch) {
  const std::vector<StagePlan> plans = plan_stages(spec);
  const int64_t window = std::min(active_steps(spec), kStepsPerWindow);
  int64_t largest = 0;
  int64_t state = 0;
  int64_t signals = batch * window * spec.input.size() * kFloat;
  for (const StagePlan& plan : plans) {
    const int64_t frames = batch * std::min(plan.active_steps, kStepsPerWindow);
    largest = std::max(largest, frames * plan.output.size() * kFloat);
    state += batch * plan.output.size() * kFloat;
    signals += frames * output_bytes(plan);
  }
  return 2 * parameters_of(plans) * kFloat + largest + state + signals;
}

int64_t reading_bytes(int64_t samples, int64_t bytes_per_sample) {
  return 3 * samples * bytes_per_sample;
}

std::string bytes_text(int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value >= 1e9) return fmt::format("{:.1f} GB", value / 1e9);
  return fmt::format("{:.0f} MB", std::max(1.0, value / 1e6));
}

}  // namespace bntt
