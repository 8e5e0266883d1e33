#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "analyse/early_exit.h"
#include "analyse/json.h"
#include "analysis.h"
#include "command.h"
#include "interrupt.h"

namespace bntt::cli {
namespace {

struct ExitArguments : AnalysisArguments {
  double max_loss = 0.3;
};

std::string hundredths_or_dash(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "-";
}

/// Why there is no proposal, and what would help.
std::string no_proposal(const ExitStudy& study) {
  if (study.validation_images == 0) {
    return "nothing is proposed: the run kept no validation images";
  }
  const auto first = std::ranges::find_if(
      study.sweep, [&](const ExitPoint& point) { return point.exit_step < study.steps; });
  if (first == study.sweep.end()) return "nothing is proposed: every threshold takes all steps";
  std::string text = fmt::format(
      "nothing is proposed: stopping after {} of {} steps may cost up to {:.2f} points according "
      "to {} validation images, but --max-loss allows {}",
      first->exit_step, study.steps, *first->validation_loss_bound, study.validation_images,
      study.max_loss);
  if (study.validation_images_needed) {
    text += fmt::format("; at this loss at least {} validation images would be needed",
                        *study.validation_images_needed);
  }
  return text;
}

std::string proposal(const ExitStudy& study) {
  if (!study.proposed) return no_proposal(study);
  const ExitPoint& point = study.sweep[*study.proposed];
  return fmt::format(
      "proposed: gamma threshold {:.6g}, {} of {} steps; it {} {:.2f} points on {} validation "
      "images and, with {:.0f} % confidence, costs at most {:.2f} on other images (--max-loss {})",
      point.threshold, point.exit_step, study.steps,
      *point.validation_loss < 0.0 ? "gains" : "costs", std::abs(*point.validation_loss),
      study.validation_images, 100.0 * study.bound_confidence, *point.validation_loss_bound,
      study.max_loss);
}

void print_sweep(const ExitStudy& study) {
  if (study.sweep.empty()) {
    fmt::print("no gamma per step: the paper's rule does not apply\n\n");
    return;
  }
  fmt::print("the paper's rule: stop once every later mean gamma is below the threshold\n");
  fmt::print("{:>10} {:>7} {:>12} {:>7} {:>8} {:>8} {:>10} {:>7} {:>11} {:>9}\n", "threshold",
             "T_exit", "validation %", "loss", "at most", "test %", "spikes", "work %", "energy uJ",
             "ms/image");
  for (std::size_t i = 0; i < study.sweep.size(); ++i) {
    const ExitPoint& point = study.sweep[i];
    const bool proposed = study.proposed && static_cast<int64_t>(i) == *study.proposed;
    fmt::print(
        "{:>10.6g} {:>7} {:>12} {:>7} {:>8} {:>8.2f} {:>10.0f} {:>7.1f} {:>11.4f} {:>9.4f}{}\n",
        point.threshold, point.exit_step, hundredths_or_dash(point.validation_accuracy),
        hundredths_or_dash(point.validation_loss), hundredths_or_dash(point.validation_loss_bound),
        point.accuracy, point.spikes_per_image, 100.0 * point.synapse_work, point.energy_pj / 1e6,
        point.ms_per_image, proposed ? "  <- proposed" : "");
  }
  fmt::print("{}\n\n", proposal(study));
}

std::string settings_text(const ExitMethod& method) {
  std::string text;
  if (method.gamma_threshold) text += fmt::format(" gamma {:.6g}", *method.gamma_threshold);
  if (method.window_threshold) text += fmt::format(" windows {:.6g}", *method.window_threshold);
  if (method.sample_limit) {
    text += fmt::format(" {} {:.2f}",
                        method.sample_exit == SampleExit::margin ? "margin" : "confidence",
                        *method.sample_limit);
  }
  return text;
}

void print_methods(const ExitStudy& study) {
  fmt::print(
      "{} test images; settings chosen on {} validation images, so that their loss is at most {} "
      "points with {:.0f} % confidence\n",
      study.images, study.validation_images, study.max_loss, 100.0 * study.bound_confidence);
  fmt::print("{:<17} {:>12} {:>7} {:>8} {:>8} {:>10} {:>7} {:>12} {:>9} {:>9} {:>9}  {}\n",
             "method", "validation %", "loss", "at most", "test %", "mean steps", "work %", "adds",
             "spikes", "ms/image", "images/s", "settings");
  for (const ExitMethod& method : study.methods) {
    fmt::print(
        "{:<17} {:>12} {:>7} {:>8} {:>8.2f} {:>10.2f} {:>7.1f} {:>12.0f} {:>9.0f} {:>9.4f} "
        "{:>9.0f} {}\n",
        method.name, hundredths_or_dash(method.validation_accuracy),
        hundredths_or_dash(method.validation_loss),
        hundredths_or_dash(method.validation_loss_bound), method.accuracy, method.mean_steps,
        100.0 * method.synapse_work, method.accumulates_per_image, method.spikes_per_image,
        method.ms_per_image, method.images_per_second, settings_text(method));
  }
  if (study.methods.size() == 1 && study.validation_images > 0) {
    fmt::print("no other method stays within --max-loss\n");
  }
}

void print_windows(const ExitStudy& study) {
  if (study.windows.empty()) return;
  fmt::print("\nwindows of the layers: # the layer computes, . it is skipped\n");
  for (const StageWindow& window : study.windows) {
    std::string steps;
    for (const bool active : window.active) steps += active ? '#' : '.';
    fmt::print("{:<8} {}\n", window.name, steps);
  }
}

void print_study(const ExitStudy& study) {
  print_sweep(study);
  print_methods(study);
  print_windows(study);
}

int exit_early(const ExitArguments& arguments) {
  const OpenRun run = open_for_analysis(arguments, /*need_validation=*/true);
  const ExitStudy study = [&] {
    AnalysisProgress progress(arguments.json);
    return study_exit(run.network, test_sample(run), validation_sample(run),
                      {.max_loss = arguments.max_loss, .progress = std::ref(progress)});
  }();
  return finish_analysis(study, arguments, print_study);
}

}  // namespace

void add_exit(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "exit", "Find out how early a trained network can stop, and what that saves");
  auto arguments = std::make_shared<ExitArguments>();
  add_analysis_options(*command, *arguments);
  command
      ->add_option("--max-loss", arguments->max_loss,
                   "points of accuracy that stopping early may cost, with 95 % confidence")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  command->footer("Example:\n  bntt exit runs/demo --max-loss 0.5");
  command->callback(
      [arguments, &action] { action = [arguments] { return exit_early(*arguments); }; });
}

}  // namespace bntt::cli
