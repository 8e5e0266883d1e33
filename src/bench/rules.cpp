#include "bench/rules.h"

#include <algorithm>
#include <cmath>

#include "analyse/batch_inference.h"

namespace bntt::bench {
namespace {

template <typename Works>
StepWindows windows_of(const Network& network, const Works& works) {
  StepWindows windows;
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    auto& active = windows.active.emplace_back();
    for (int64_t step = 0; step < network.spec().steps; ++step) {
      active.push_back(works(i, step - network.stages()[i].first_step));
    }
  }
  return windows;
}

}  // namespace

StepWindows band_windows(const Network& network, double share) {
  const auto steps = static_cast<double>(active_steps(network.spec()));
  const auto hidden = static_cast<double>(network.stages().size() - 1);
  const double width = std::max(1.0, std::round(share * steps));
  return windows_of(network, [&](std::size_t stage, int64_t step) {
    if (network.stages()[stage].readout) return true;
    const double last = std::max(1.0, hidden - 1.0);
    const double begin = std::round((steps - width) * static_cast<double>(stage) / last);
    const auto at = static_cast<double>(step);
    return at >= begin && at < begin + width;
  });
}

StepWindows closed_windows(const Network& network) {
  return windows_of(network, [](std::size_t, int64_t) { return false; });
}

std::vector<double> working_shares(const Workload& workload, const StepWindows& windows) {
  const Network& network = workload.network;
  const auto reads_constant = [&](const StagePlan& plan) {
    return workload.encoder.kind == EncoderKind::direct &&
           plan.branches.front().sources.front() == BranchPlan::kInput;
  };
  std::vector<double> shares;
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const auto first = windows.active[i].begin() + network.stages()[i].first_step;
    const int64_t steps = active_steps(network.spec());
    const int64_t working = std::count(first, first + steps, true);
    shares.push_back(working > 0 && reads_constant(network.stages()[i])
                         ? 1.0
                         : static_cast<double>(working) / static_cast<double>(steps));
  }
  return shares;
}

double exit_limit(const Workload& workload, const Batch& images, double share) {
  const InferenceOptions options{.keep_trajectory = true};
  BatchInference inference(workload.network, workload.encoder, kSeed, options);
  const Trajectory trajectory = inference.run(images).trajectory;
  const auto mean_steps = [&](double limit) {
    int64_t sum = 0;
    for (int64_t image = 0; image < images.size(); ++image) {
      const auto own = trajectory.confidence.begin() + image * trajectory.steps;
      const auto left =
          std::find_if(own, own + trajectory.steps - 1, [&](float c) { return c >= limit; });
      sum += left - own + 1;
    }
    return static_cast<double>(sum) / static_cast<double>(images.size());
  };
  double low = 0.0;
  double high = 1.0;
  constexpr int kHalvings = 30;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    const bool enough = mean_steps(middle) <= share * static_cast<double>(trajectory.steps);
    (enough ? low : high) = middle;
  }
  constexpr double kRounding = 1e-6;  // the trajectory holds floats
  return std::max(0.0, low - kRounding);
}

}  // namespace bntt::bench
