#include "analyse/activity.h"

#include <fmt/format.h>

#include "analyse/json.h"
#include "analysis.h"
#include "command.h"
#include "interrupt.h"

namespace bntt::cli {
namespace {

struct ActivityCommandArguments : AnalysisArguments {
  double exit_threshold = 0.1;
  int64_t bins = 40;
  int64_t detail_images = 64;
};

void print_row(const std::string& name, const std::vector<double>& values, int precision) {
  fmt::print("{:<8}", name);
  for (const double value : values) fmt::print(" {:>8.{}f}", value, precision);
  fmt::print("\n");
}

void print_spikes(const ActivityStudy& study) {
  fmt::print("{} images, accuracy {:.2f} %, {:.0f} spikes per image\n\n", study.images,
             study.accuracy, study.spikes_per_image);
  fmt::print("spikes per image, stage and step\n{:<8}", "step");
  for (int64_t step = 1; step <= study.steps; ++step) fmt::print(" {:>8}", step);
  fmt::print("\n");
  if (!study.input_spikes_per_step.empty()) print_row("input", study.input_spikes_per_step, 1);
  for (const StageActivity& stage : study.stages) {
    if (stage.neurons > 0) print_row(stage.name, stage.spikes_per_step, 1);
  }
  fmt::print("\n{:<8} {:>9} {:>18} {:>24}\n", "stage", "neurons", "spikes per neuron",
             "% of neuron-steps fire");
  for (const StageActivity& stage : study.stages) {
    if (stage.neurons == 0) continue;
    fmt::print("{:<8} {:>9} {:>18.4f} {:>24.3f}\n", stage.name, stage.neurons, stage.spike_rate,
               100.0 * stage.density);
  }
}

void print_gains(const ActivityStudy& study) {
  fmt::print("\nmean gamma");
  if (study.exit_step) {
    fmt::print("; with threshold {} the network may stop after step {}", study.exit_threshold,
               *study.exit_step);
  }
  fmt::print("\n");
  for (const StageActivity& stage : study.stages) {
    if (!stage.gamma_mean.empty()) print_row(stage.name, stage.gamma_mean, 3);
  }
}

void print_thresholds(const ActivityStudy& study) {
  if (study.detail_images == 0) return;
  fmt::print(
      "\nmembrane, and how well a neuron with the effective threshold predicts each "
      "neuron-step ({} images)\n",
      study.detail_images);
  fmt::print("{:<8} {:>9} {:>9} {:>9} {:>9} | {:>7} {:>7} {:>9} | {:>7} {:>7} {:>9}\n", "stage",
             "mean", "deviation", "gamma>0 %", "fires %", "same %", "recall", "precision", "same %",
             "recall", "precision");
  for (const StageActivity& stage : study.stages) {
    if (!stage.membrane) continue;
    fmt::print("{:<8} {:>9.4f} {:>9.4f}", stage.name, stage.membrane->mean,
               stage.membrane->deviation);
    if (const auto& threshold = stage.effective_threshold) {
      fmt::print(" {:>9.2f} {:>9.3f}", 100.0 * threshold->positive_gains,
                 100.0 * threshold->real_rate);
      for (const ThresholdAgreement* form : {&threshold->paper, &threshold->with_mean}) {
        fmt::print(" | {:>7.2f} {:>7.4f} {:>9.4f}", 100.0 * form->same, form->recall,
                   form->precision);
      }
    }
    fmt::print("\n");
  }
  fmt::print(
      "left: ignoring the mean current, as in the paper; right: with the mean current "
      "subtracted\n");
}

void print_study(const ActivityStudy& study) {
  print_spikes(study);
  print_gains(study);
  print_thresholds(study);
}

int activity(const ActivityCommandArguments& arguments) {
  OpenRun run = open_for_analysis(arguments);
  const ActivityStudy study = [&] {
    AnalysisProgress progress(arguments.json);
    return study_activity(run.network, test_sample(run),
                          {.exit_threshold = arguments.exit_threshold,
                           .bins = arguments.bins,
                           .detail_images = arguments.detail_images,
                           .progress = [&](int64_t images) {
                             return progress("activity", images, run.test.size());
                           }});
  }();
  return finish_analysis(study, arguments, print_study);
}

}  // namespace

void add_activity(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "activity",
      "Measure spikes, gamma, membranes and effective thresholds of a run at each step");
  auto arguments = std::make_shared<ActivityCommandArguments>();
  add_analysis_options(*command, *arguments);
  command
      ->add_option("--exit-threshold", arguments->exit_threshold,
                   "gamma threshold that marks the exit region")
      ->check(not_negative())
      ->capture_default_str();
  command->add_option("--bins", arguments->bins, "bins of each histogram")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command
      ->add_option("--detail-images", arguments->detail_images,
                   "number of images for membranes and effective thresholds; 0: none")
      ->check(not_negative())
      ->capture_default_str();
  command->footer("Example:\n  bntt activity runs/demo --limit 1000 --json");
  command->callback(
      [arguments, &action] { action = [arguments] { return activity(*arguments); }; });
}

}  // namespace bntt::cli
