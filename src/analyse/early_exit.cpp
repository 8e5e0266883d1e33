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

/// The counts of a whole run of an image set, cut back to its first steps, as if it had stopped
/// there.
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
class ExitAnalysis {
 public:
  ExitAnalysis(const Network& network, const Sample& test, const Sample& validation,
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
      whole_right_ = right_at(judged(unwindowed_), study_.steps);
    }
    sweep();
    if (can_choose()) propose();
    if (can_choose() && !stopped_) sweep_windows();
    if (!stopped_) choose_methods();
    if (!stopped_) measure_times();
    for (ExitMethod& method : study_.methods) {
      if (!stopped_) run_method(method);
    }
    return std::move(study_);
  }

 private:
  /// The validation images run through the network with some windows.
  struct Candidate {
    std::optional<double> window_threshold;
    Inference run;
    std::vector<double> work;
  };

  bool can_choose() const { return validation_.range.size() > 0; }
  ExitAnswers judged(const Candidate& candidate) const {
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
    if (stopped_) return;
    const std::vector<int64_t> labels = labels_of(test_);
    for (const ExitInterval& interval : intervals) {
      const int64_t step = interval.exit_step;
      const Inference stopped = stopped_at(network_, whole, step);
      ExitPoint point{
          .exit_step = step,
          .threshold = interval.threshold,
          .threshold_above = interval.above,
          .threshold_up_to = interval.up_to,
          .accuracy = accuracy_of(right_at({whole.trajectory, labels, whole_work_}, step)),
          .spikes_per_image = stopped.spikes_per_image(),
          .synapse_work = share_of_work(stopped),
          .energy_pj = measured_pj(network_, stopped, options_.table)};
      if (can_choose()) {
        const std::vector<bool> right = right_at(judged(unwindowed_), step);
        point.validation_accuracy = accuracy_of(right);
        point.validation_loss = against_whole(right).loss();
        // With all steps it is the same network, so there is no uncertainty.
        point.validation_loss_bound = step < study_.steps ? loss_bound(against_whole(right)) : 0.0;
      }
      study_.sweep.push_back(point);
    }
  }

  /// Thresholds rise and steps fall from row to row. Rows are tested in this order, which is fixed
  /// before any image is seen, until one fails: all of them together are then as certain as a
  /// single test.
  void propose() {
    for (std::size_t i = 0; i < study_.sweep.size(); ++i) {
      const ExitPoint& point = study_.sweep[i];
      if (point.exit_step == study_.steps) continue;
      if (*point.validation_loss_bound > options_.max_loss) {
        if (!study_.proposed) {
          study_.validation_images_needed = samples_needed(
              against_whole(right_at(judged(unwindowed_), point.exit_step)), options_.max_loss);
        }
        return;
      }
      study_.proposed = static_cast<int64_t>(i);
    }
  }

  PairedAnswers against_whole(const std::vector<bool>& right) const {
    return paired_answers(whole_right_, right);
  }
  /// The limit for a setting that is the best of `sequences` sequences of settings, each tested in
  /// a fixed order: the probability of an error is divided among the sequences.
  LossLimit loss_limit(std::size_t sequences = 1) const {
    const double chance = (1.0 - kBoundConfidence) / static_cast<double>(sequences);
    return {whole_right_, options_.max_loss, 1.0 - chance};
  }
  void set_validation(ExitMethod& method, const std::vector<bool>& right,
                      const LossLimit& loss) const {
    method.validation_accuracy = accuracy_of(right);
    method.validation_loss = against_whole(right).loss();
    method.validation_loss_bound = loss_bound(against_whole(right), loss.confidence);
  }

  void sweep_windows() {
    for (const double threshold : window_thresholds(network_, constant_input_)) {
      Candidate candidate{.window_threshold = threshold};
      const StepWindows windows = layer_windows(network_, threshold);
      candidate.run = run_on("windows", validation_, {.windows = windows, .keep_trajectory = true});
      if (stopped_) return;
      candidate.work = work_until(network_, windows, constant_input_);
      const double accuracy = accuracy_of(right_at(judged(candidate), study_.steps));
      study_.window_sweep.push_back(
          {threshold, candidate.work.back() / whole_work_.back(), accuracy});
      // Less than half the accuracy of the whole network: later thresholds only lose more.
      if (accuracy < 0.5 * accuracy_of(whole_right_)) return;
      windowed_.push_back(std::move(candidate));
    }
  }

  void choose_methods() {
    ExitMethod whole{.name = "all-steps", .exit_step = study_.steps};
    if (can_choose()) {
      whole.validation_accuracy = accuracy_of(whole_right_);
      whole.validation_loss = whole.validation_loss_bound = 0.0;
    }
    study_.methods.push_back(std::move(whole));
    if (!can_choose()) return;
    const std::optional<ExitMethod> gamma = gamma_method();
    if (gamma) study_.methods.push_back(*gamma);
    for (const SampleExit measure : {SampleExit::confidence, SampleExit::margin}) {
      choose_samples({.name = measure == SampleExit::margin ? "margin" : "confidence",
                      .exit_step = study_.steps,
                      .sample_exit = measure},
                     loss_limit());
    }
    if (gamma) {
      ExitMethod both = *gamma;
      both.name = "gamma+confidence";
      both.sample_exit = SampleExit::confidence;
      // The sequence of limits could have started at any row.
      choose_samples(both, loss_limit(study_.sweep.size()));
    }
    choose_windows();
    choose_combined(gamma);
  }

  /// The paper's rule with the proposed threshold.
  std::optional<ExitMethod> gamma_method() const {
    if (!study_.proposed) return std::nullopt;
    const ExitPoint& point = study_.sweep[*study_.proposed];
    return ExitMethod{.name = "gamma",
                      .exit_step = point.exit_step,
                      .gamma_threshold = point.threshold,
                      .validation_accuracy = point.validation_accuracy,
                      .validation_loss = point.validation_loss,
                      .validation_loss_bound = point.validation_loss_bound};
  }

  void choose_samples(ExitMethod method, const LossLimit& loss) {
    const auto choice =
        choose_limit(judged(unwindowed_), method.sample_exit, method.exit_step, loss);
    // A limit that no image reaches is not a rule.
    if (!choice || choice->outcome.mean_work >= whole_work_.back()) return;
    method.sample_limit = choice->limit;
    set_validation(method, choice->outcome.right, loss);
    study_.methods.push_back(std::move(method));
  }

  void choose_windows() {
    const LossLimit loss = loss_limit();
    const Candidate* best = nullptr;
    for (const Candidate& candidate : windowed_) {
      if (!loss.holds(right_at(judged(candidate), study_.steps))) break;
      best = &candidate;
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
    ExitMethod method{
        .name = "windows", .exit_step = study_.steps, .window_threshold = best->window_threshold};
    set_validation(method, right_at(judged(*best), study_.steps), loss);
    study_.methods.push_back(std::move(method));
  }

  /// Windows, γ and confidence together: the setting with the least work of all that are tried.
  void choose_combined(const std::optional<ExitMethod>& gamma) {
    // One sequence of limits per window threshold and row, including the row with all steps.
    const LossLimit loss =
        loss_limit(std::max<std::size_t>(1, windowed_.size() * study_.sweep.size()));
    std::optional<ExitMethod> best;
    double least_work = whole_work_.back();
    for (const Candidate& candidate : windowed_) {
      for (const bool with_gamma : {false, true}) {
        if (with_gamma && !gamma) continue;
        const int64_t last = with_gamma ? gamma->exit_step : study_.steps;
        const auto choice = choose_limit(judged(candidate), SampleExit::confidence, last, loss);
        if (!choice || choice->outcome.mean_work >= least_work) continue;
        least_work = choice->outcome.mean_work;
        best = {.name = "combined",
                .exit_step = last,
                .gamma_threshold = with_gamma ? gamma->gamma_threshold : std::nullopt,
                .window_threshold = candidate.window_threshold,
                .sample_limit = choice->limit,
                .sample_exit = SampleExit::confidence};
        set_validation(*best, choice->outcome.right, loss);
      }
    }
    if (best) study_.methods.push_back(*best);
  }

  InferenceOptions options_of(const ExitMethod& method) const {
    InferenceOptions options{.steps = method.exit_step,
                             .sample_exit = method.sample_exit,
                             .limit = method.sample_limit.value_or(1.0)};
    if (method.window_threshold) {
      options.windows = layer_windows(network_, *method.window_threshold);
    }
    return options;
  }

  /// A rule that occurs several times is timed once.
  void measure_times() {
    std::vector<InferenceOptions> rules;
    std::vector<std::vector<double*>> times;  // [rule]: where its time is stored
    for (ExitPoint& point : study_.sweep) {
      rules.push_back({.steps = point.exit_step});
      times.push_back({&point.ms_per_image});
    }
    for (ExitMethod& method : study_.methods) {
      const bool stops_all = !method.window_threshold && method.sample_exit == SampleExit::none;
      const auto row = std::ranges::find(study_.sweep, method.exit_step, &ExitPoint::exit_step);
      if (stops_all && row != study_.sweep.end()) {
        times[row - study_.sweep.begin()].push_back(&method.ms_per_image);
      } else {
        rules.push_back(options_of(method));
        times.push_back({&method.ms_per_image});
      }
    }
    const std::vector<double> shortest = shortest_ms(rules);
    for (std::size_t i = 0; i < rules.size(); ++i) {
      for (double* ms : times[i]) *ms = shortest[i];
    }
  }

  /// The shortest of a few runs of each rule, because other activity of the machine only adds time.
  /// Rules take turns, so that a slow minute affects all of them.
  std::vector<double> shortest_ms(const std::vector<InferenceOptions>& rules) {
    constexpr int kRounds = 3;
    Sample timed = test_;
    timed.range.end = timed.range.begin + study_.timed_images;
    std::vector<double> shortest(rules.size(), std::numeric_limits<double>::infinity());
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < rules.size() && !stopped_; ++i) {
        shortest[i] = std::min(shortest[i], run_on("times", timed, rules[i]).ms_per_image());
      }
    }
    return shortest;
  }

  /// Runs a method on the test images and counts its work.
  void run_method(ExitMethod& method) {
    InferenceOptions options = options_of(method);
    options.count_work = true;
    const Inference run = run_on(method.name, test_, options);
    method.accuracy = run.accuracy();
    method.mean_steps = run.mean_steps();
    method.synapse_work = share_of_work(run);
    method.accumulates_per_image = accumulates_per_image(run);
    method.spikes_per_image = run.spikes_per_image();
    method.energy_pj = measured_pj(network_, run, options_.table);
    method.images_per_second = 1000.0 / method.ms_per_image;
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
  std::vector<bool> whole_right_;    // [validation image]: right with all steps
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
  return ExitAnalysis(network, test, validation, options).run();
}

}  // namespace bntt
