#include "train/start_from.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/fail.h"
#include "bntt/load.h"
#include "model/learned_windows.h"
#include "train/checkpoint.h"

namespace bntt {
namespace {

/// Rows of steps, [step, ...]: row t of the result is row min(t, last) of the source.
Buffer<float> repeat_step(const Buffer<float>& rows, int64_t steps_before, int64_t last,
                          int64_t steps) {
  const int64_t row = rows.size() / steps_before;
  Buffer<float> result(row * steps);
  for (int64_t step = 0; step < steps; ++step) {
    std::copy_n(rows.data() + std::min(step, last) * row, row, result.data() + step * row);
  }
  return result;
}

/// One call of start_from.
class NumberTransfer {
 public:
  NumberTransfer(const Network& source, const std::string& origin, const Network& network)
      : source_(source),
        origin_(origin),
        steps_before_(source.spec().steps),
        steps_(network.spec().steps),
        other_classes_(classes_of(source.spec()) != classes_of(network.spec())),
        readout_(network.stages().back().name + ".") {}

  /// The numbers for a parameter or statistic; empty: it keeps its own.
  template <typename Numbers>
  std::optional<Buffer<float>> numbers_for(const Numbers& wanted,
                                           const std::vector<Numbers>& available) {
    if (other_classes_ && wanted.name.starts_with(readout_)) {
      taken_.drawn.push_back(wanted.name);
      return std::nullopt;
    }
    const auto found = std::ranges::find(available, wanted.name, &Numbers::name);
    if (found == available.end()) {
      fail("{}: has no tensor '{}', which the network of this run needs", origin_, wanted.name);
    }
    if (found->pytorch_shape == wanted.pytorch_shape) return found->value;
    if (!differ_in_steps(found->pytorch_shape, wanted.pytorch_shape)) {
      fail("{}: tensor '{}' is [{}], but the network of this run needs [{}]", origin_, wanted.name,
           fmt::join(found->pytorch_shape, ", "), fmt::join(wanted.pytorch_shape, ", "));
    }
    taken_.by_step.push_back(wanted.name);
    return repeat_step(found->value, steps_before_, last_trained_step(wanted.name), steps_);
  }

  /// The windows of the source, in the branches whose γ is taken. Steps beyond those of the source
  /// are like the last one, as their γ is.
  LearnedWindows windows_for(const Network& network) const {
    if (source_.windows().empty()) return {};
    LearnedWindows windows = all_steps(network);
    for (std::size_t i = 0; i < network.stages().size(); ++i) {
      for (std::size_t b = 0; b < network.stages()[i].branches.size(); ++b) {
        const std::string& name = network.stages()[i].branches[b].name;
        if (!network.can_switch_steps(i, b) || (other_classes_ && (name + ".") == readout_))
          continue;
        const std::vector<bool>* found = window_of(name);
        if (found == nullptr) continue;
        std::vector<bool> active;
        for (int64_t step = 0; step < steps_; ++step) {
          active.push_back((*found)[std::min(step, last_trained_step(name + "."))]);
        }
        const StagePlan& plan = network.stages()[i];
        const auto first = active.begin() + plan.first_step;
        // Fewer steps may leave none that work: such a layer begins anew.
        if (std::count(first, first + plan.active_steps, true) > 0) {
          windows.active[i][b] = std::move(active);
        }
      }
    }
    return windows;
  }

  TakenNumbers take() { return std::move(taken_); }

 private:
  const std::vector<bool>* window_of(const std::string& branch) const {
    for (std::size_t i = 0; i < source_.stages().size(); ++i) {
      for (std::size_t b = 0; b < source_.stages()[i].branches.size(); ++b) {
        if (source_.stages()[i].branches[b].name == branch) return &source_.windows().active[i][b];
      }
    }
    return nullptr;
  }

  // With delayed propagation the last steps of early stages never reach the readout, so their
  // numbers were never trained.
  int64_t last_trained_step(const std::string& tensor) const {
    const auto stage = std::ranges::find_if(source_.stages(), [&](const StagePlan& plan) {
      return tensor.starts_with(plan.name + ".");
    });
    return stage == source_.stages().end() ? steps_before_ - 1
                                           : stage->first_step + stage->active_steps - 1;
  }

  // Only norms have numbers per step, and the step is the first axis of those.
  bool differ_in_steps(std::vector<int64_t> found, const std::vector<int64_t>& wanted) const {
    if (found.empty() || found.size() != wanted.size() || found.front() != steps_before_ ||
        wanted.front() != steps_) {
      return false;
    }
    found.front() = steps_;
    return found == wanted;
  }

  const Network& source_;
  const std::string& origin_;
  int64_t steps_before_;
  int64_t steps_;
  bool other_classes_;
  std::string readout_;
  TakenNumbers taken_;
};

}  // namespace

TakenNumbers start_from(const Network& source, const std::string& origin, Network& network) {
  if (source.quantised()) {
    fail(
        "{}: its weights are int8, which cannot be trained: start from the run that it was made of",
        origin);
  }
  NumberTransfer transfer(source, origin, network);
  std::vector<std::optional<Buffer<float>>> values;
  std::vector<std::optional<Buffer<float>>> statistics;
  for (const Parameter& parameter : network.parameters()) {
    values.push_back(transfer.numbers_for(parameter, source.parameters()));
  }
  for (const Statistic& statistic : network.statistics()) {
    statistics.push_back(transfer.numbers_for(statistic, source.statistics()));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i]) network.parameters()[i].value = std::move(*values[i]);
  }
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    if (statistics[i]) network.statistics()[i].value = std::move(*statistics[i]);
  }
  network.set_windows(transfer.windows_for(network));
  return transfer.take();
}

void take_thresholds(RunConfig& config) {
  if (config.train.from.empty()) {
    fail("train.from_thresholds is true, but train.from names no run: start with --from RUN");
  }
  const Network source = load_start(config.train.from);
  std::vector<float> thresholds;
  for (const StagePlan& plan : source.stages()) {
    if (plan.spikes()) thresholds.push_back(plan.neuron.threshold);
    if (!config.network && plan.branches.front().bias) {
      fail(
          "{}: {} has a bias, which networks of [model] do not have: describe the network in "
          "[network]",
          config.train.from, plan.name);
    }
  }
  if (thresholds.empty()) {
    fail("{}: is not a spiking network, so it has no thresholds: convert it first",
         config.train.from);
  }
  if (config.network) {
    set_thresholds(thresholds, *config.network);
  } else {
    config.model.thresholds = thresholds;
  }
}

Network load_start(const std::string& run_or_file) {
  if (std::filesystem::is_regular_file(run_or_file)) return load_network(run_or_file);
  const RunPaths paths{run_or_file};
  if (!std::filesystem::exists(paths.best()) && !std::filesystem::exists(paths.checkpoint())) {
    fail("{}: holds no weights to start from, expected a run or a checkpoint file", run_or_file);
  }
  return load_run_network(paths);
}

}  // namespace bntt
