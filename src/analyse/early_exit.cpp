#include "analyse/early_exit.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "analyse/exit_choice.h"
#include "base/fail.h"

namespace bntt {
namespace {

std::vector<int64_t> labels_of(const Sample& sample) {
  const auto first = sample.images.labels.begin() + sample.range.begin;
  return {first, first + sample.range.size()};
}

/// Counts [stage][step] up to the first `local` steps of each stage.
std::vector<std::vector<int64_t>> first_steps(const Network& network,
                                              const std::vector<std::vector<int64_t>>& counts,
                                              int64_t local) {
  std::vector<std::vector<int64_t>> result;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto first = counts[i].begin() + network.stages()[i].first_step;
    result.emplace_back(first, first + local);
  }
  return result;
}

/// A whole run of an image set cut back to its first steps: what stopping there would have counted.
Inference stopped_at(const Network& network, const Inference& whole, int64_t step) {
  const int64_t local = step - whole.trajectory.first_step + 1;
  Inference result;
  result.sums = whole.sums;
  result.activity = {first_steps(network, whole.activity.spikes, local), whole.activity.images};
  result.work.frames = first_steps(network, whole.work.frames, local);
  result.work.accumulates = first_steps(network, whole.work.accumulates, local);
  result.work.multiply_accumulates = first_steps(network, whole.work.multiply_accumulates, local);
  return result;
}

/// One call of study_exit.
class ExitStudying {
 public:
  ExitStudying(const Network& network, const Sample& test, const Sample& validation,
               const ExitOptions& options)
      : network_(network),
        test_(test),
        validation_(validation),
        options_(options),
        constant_input_(test.encoder.kind == EncoderKind::direct),
        whole_work_(work_until(network, {}, constant_input_)),
        validation_labels_(labels_of(validation)) {
    study_.steps = network.spec().steps;
    study_.first_exit = study_.steps - active_steps(network.spec()) + 1;
    study_.images = test.range.size();
    study_.validation_images = validation.range.size();
    study_.timed_images = std::min(options.timed_images, test.range.size());
    study_.max_loss = options.max_loss;
  }

  ExitStudy run() {
    if (can_choose()) {
      unwindowed_.run = run_on("validation", validation_, {.keep_trajectory = true});
      if (stopped_) return study_;
      unwindowed_.work = whole_work_;
      least_accuracy_ = accuracy_at(judged(unwindowed_), study_.steps) - options_.max_loss;
    }
    sweep();
    if (can_choose() && !stopped_) sweep_windows();
    if (!stopped_) run_methods();
    return std::move(study_);
  }

 private:
  /// The validation images through the network with some windows.
  struct Candidate {
    std::optional<double> window_threshold;
    Inference run;
    std::vector<double> work;
  };

  bool can_choose() const { return validation_.range.size() > 0; }
  Judged judged(const Candidate& candidate) const {
    return {candidate.run.trajectory, validation_labels_, candidate.work};
  }

  Inference run_on(const std::string& what, const Sample& sample, InferenceOptions options) {
    if (options_.progress) {
      options.progress = [&, of = sample.range.size()](int64_t images) {
        stopped_ = stopped_ || options_.progress(what, images, of);
        return stopped_;
      };
    }
    return infer(network_, sample, options);
  }

  void sweep() {
    const std::vector<ExitInterval> intervals = exit_intervals(network_);
    if (intervals.empty() || stopped_) return;
    const Inference whole = run_on("test", test_, {.count_work = true, .keep_trajectory = true});
    const std::vector<int64_t> labels = labels_of(test_);
    for (const ExitInterval& interval : intervals) {
      if (stopped_) return;
      const int64_t step = interval.exit_step;
      const Inference stopped = stopped_at(network_, whole, step);
      ExitPoint point{.exit_step = step,
                      .threshold = interval.threshold,
                      .threshold_above = interval.above,
                      .threshold_up_to = interval.up_to,
                      .accuracy = accuracy_at({whole.trajectory, labels, whole_work_}, step),
                      .spikes_per_image = stopped.spikes_per_image(),
                      .synapse_work = share_of_work(stopped),
                      .energy_pj = measured_pj(stopped, options_.table)};
      if (can_choose()) point.validation_accuracy = accuracy_at(judged(unwindowed_), step);
      point.ms_per_image = timed_ms({.steps = step});
      study_.sweep.push_back(point);
      // Intervals rise in threshold and fall in steps: the last that keeps the accuracy.
      if (can_choose() && *point.validation_accuracy >= least_accuracy_) {
        study_.proposed = static_cast<int64_t>(study_.sweep.size()) - 1;
      }
    }
  }

  /// The shortest of a few runs: what else the machine does only ever adds.
  double timed_ms(const InferenceOptions& options) {
    constexpr int kRuns = 3;
    Sample timed = test_;
    timed.range.end = timed.range.begin + study_.timed_images;
    double shortest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kRuns && !stopped_; ++i) {
      shortest = std::min(shortest, run_on("times", timed, options).ms_per_image());
    }
    return shortest;
  }

  void sweep_windows() {
    for (const double threshold : window_thresholds(network_, constant_input_)) {
      Candidate candidate{.window_threshold = threshold};
      const StepWindows windows = layer_windows(network_, threshold);
      candidate.run = run_on("windows", validation_, {.windows = windows, .keep_trajectory = true});
      if (stopped_) return;
      candidate.work = work_until(network_, windows, constant_input_);
      const double accuracy = accuracy_at(judged(candidate), study_.steps);
      study_.window_sweep.push_back(
          {threshold, candidate.work.back() / whole_work_.back(), accuracy});
      // Fewer than half of the answers of the whole network: steps further on only lose more.
      if (accuracy < 0.5 * (least_accuracy_ + options_.max_loss)) return;
      windowed_.push_back(std::move(candidate));
    }
  }

  void run_methods() {
    run_method({.name = "all-steps", .exit_step = study_.steps});
    if (!can_choose()) return;
    const ExitMethod gamma = gamma_method();
    if (gamma.gamma_threshold) run_method(gamma);
    for (const SampleExit measure : {SampleExit::confidence, SampleExit::margin}) {
      run_chosen({.name = measure == SampleExit::margin ? "margin" : "confidence",
                  .exit_step = study_.steps,
                  .sample_exit = measure},
                 unwindowed_);
    }
    if (gamma.gamma_threshold) {
      ExitMethod both = gamma;
      both.name = "gamma+confidence";
      both.sample_exit = SampleExit::confidence;
      run_chosen(both, unwindowed_);
    }
    run_windows();
    run_combined(gamma);
  }

  /// The paper's rule with the proposed threshold.
  ExitMethod gamma_method() const {
    ExitMethod method{.name = "gamma", .exit_step = study_.steps};
    if (!study_.proposed) return method;
    const ExitPoint& point = study_.sweep[*study_.proposed];
    method.exit_step = point.exit_step;
    method.gamma_threshold = point.threshold;
    method.validation_accuracy = point.validation_accuracy;
    return method;
  }

  void run_chosen(ExitMethod method, const Candidate& candidate) {
    const auto choice =
        choose_limit(judged(candidate), method.sample_exit, method.exit_step, least_accuracy_);
    if (!choice) return;
    method.sample_limit = choice->limit;
    method.validation_accuracy = choice->outcome.accuracy;
    run_method(method);
  }

  void run_windows() {
    const Candidate* best = nullptr;
    for (const Candidate& candidate : windowed_) {
      if (accuracy_at(judged(candidate), study_.steps) >= least_accuracy_) best = &candidate;
    }
    if (best == nullptr) return;
    const StepWindows windows = layer_windows(network_, *best->window_threshold);
    for (std::size_t i = 0; i < network_.stages().size(); ++i) {
      const StagePlan& plan = network_.stages()[i];
      StageWindow window{plan.name, windows.active[i]};
      for (int64_t step = 0; step < study_.steps; ++step) {
        const bool reaches = step >= plan.first_step && step < plan.first_step + plan.active_steps;
        if (!reaches) window.active[step] = false;
      }
      study_.windows.push_back(std::move(window));
    }
    run_method({.name = "windows",
                .exit_step = study_.steps,
                .window_threshold = best->window_threshold,
                .validation_accuracy = accuracy_at(judged(*best), study_.steps)});
  }

  /// Windows, γ and confidence together: of all thresholds tried, the least work.
  void run_combined(const ExitMethod& gamma) {
    std::optional<ExitMethod> best;
    double least_work = whole_work_.back();
    for (const Candidate& candidate : windowed_) {
      for (const bool with_gamma : {false, true}) {
        if (with_gamma && !gamma.gamma_threshold) continue;
        const int64_t last = with_gamma ? gamma.exit_step : study_.steps;
        const auto choice =
            choose_limit(judged(candidate), SampleExit::confidence, last, least_accuracy_);
        if (!choice || choice->outcome.mean_work >= least_work) continue;
        least_work = choice->outcome.mean_work;
        best = {.name = "combined",
                .exit_step = last,
                .gamma_threshold = with_gamma ? gamma.gamma_threshold : std::nullopt,
                .window_threshold = candidate.window_threshold,
                .sample_limit = choice->limit,
                .sample_exit = SampleExit::confidence,
                .validation_accuracy = choice->outcome.accuracy};
      }
    }
    if (best) run_method(*best);
  }

  void run_method(ExitMethod method) {
    if (stopped_) return;
    InferenceOptions options{.steps = method.exit_step,
                             .sample_exit = method.sample_exit,
                             .limit = method.sample_limit.value_or(1.0)};
    if (method.window_threshold) {
      options.windows = layer_windows(network_, *method.window_threshold);
    }
    method.ms_per_image = timed_ms(options);
    options.count_work = true;
    const Inference run = run_on(method.name, test_, options);
    if (stopped_) return;
    method.accuracy = run.accuracy();
    method.mean_steps = run.mean_steps();
    method.synapse_work = share_of_work(run);
    method.accumulates_per_image = accumulates_per_image(run);
    method.spikes_per_image = run.spikes_per_image();
    method.energy_pj = measured_pj(run, options_.table);
    method.images_per_second = 1000.0 / method.ms_per_image;
    study_.methods.push_back(std::move(method));
  }

  double share_of_work(const Inference& run) const {
    return run.work.dense_macs(network_) /
           (static_cast<double>(run.sums.images) * whole_work_.back());
  }
  static double accumulates_per_image(const Inference& run) {
    int64_t sum = 0;
    for (const auto& stage : run.work.accumulates) {
      sum = std::accumulate(stage.begin(), stage.end(), sum);
    }
    return static_cast<double>(sum) / static_cast<double>(run.sums.images);
  }

  const Network& network_;
  const Sample& test_;
  const Sample& validation_;
  const ExitOptions& options_;
  bool constant_input_;
  std::vector<double> whole_work_;
  std::vector<int64_t> validation_labels_;
  Candidate unwindowed_;
  std::vector<Candidate> windowed_;  // by rising threshold
  double least_accuracy_ = 0.0;      // on the validation images
  bool stopped_ = false;
  ExitStudy study_;
};

}  // namespace

ExitStudy study_exit(const Network& network, const Sample& test, const Sample& validation,
                     const ExitOptions& options) {
  if (!is_spiking(network)) {
    fail("early exit: the network is an ANN, which has a single step");
  }
  if (test.range.size() == 0) fail("early exit: there are no test images");
  return ExitStudying(network, test, validation, options).run();
}

}  // namespace bntt
