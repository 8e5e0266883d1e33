#include <fmt/format.h>

#include <functional>

#include "analyse/json.h"
#include "analyse/robustness.h"
#include "analysis.h"
#include "base/fail.h"
#include "command.h"
#include "interrupt.h"

namespace bntt::cli {
namespace {

struct AttackArguments : AnalysisArguments {
  std::vector<std::string> noise;
  std::vector<std::string> fgsm;
  std::vector<std::string> pgd;
  int64_t draws = 1;
  int64_t pgd_steps = 10;
};

std::vector<double> strengths(const std::vector<std::string>& texts, const std::string& option) {
  std::vector<double> result;
  for (const std::string& text : texts) result.push_back(parse_strength(text, option));
  return result;
}

const char* describe(AttackKind kind, bool events) {
  switch (kind) {
    case AttackKind::noise:
      return events ? "share of events removed and added" : "Gaussian noise, standard deviation";
    case AttackKind::fgsm:
      return "FGSM, epsilon";
    case AttackKind::pgd:
      return "PGD, epsilon";
  }
  return "";
}

void print_study(const RobustnessStudy& study) {
  fmt::print("clean accuracy {:.2f} % of {} {}\n", study.clean_accuracy, study.images,
             study.events ? "recordings" : "images");
  for (const AttackCurve& curve : study.curves) {
    fmt::print("\n{:<36} {:>10} {:>10}\n", describe(curve.kind, study.events), "accuracy %",
               "loss");
    for (const AttackPoint& point : curve.points) {
      fmt::print("{:>36.6f} {:>10.2f} {:>10.4f}\n", point.strength, point.accuracy, point.loss);
    }
  }
}

int attack(const AttackArguments& arguments) {
  RobustnessOptions options{.noise = strengths(arguments.noise, "--noise"),
                            .fgsm = strengths(arguments.fgsm, "--fgsm"),
                            .pgd = strengths(arguments.pgd, "--pgd"),
                            .draws = arguments.draws,
                            .pgd_steps = arguments.pgd_steps};
  if (options.noise.empty() && options.fgsm.empty() && options.pgd.empty()) {
    fail("attack: no attack was given, expected --noise, --fgsm or --pgd");
  }
  OpenRun run = open_for_analysis(arguments);
  options.clip_events = run.config.data.clip;
  const RobustnessStudy study = [&] {
    AnalysisProgress progress(arguments.json);
    options.progress = std::ref(progress);
    return study_robustness(run.network, test_sample(run), options);
  }();
  return finish_analysis(study, arguments, print_study);
}

}  // namespace

void add_attack(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "attack", "Measure the accuracy under noise and under gradient-based attacks");
  auto arguments = std::make_shared<AttackArguments>();
  add_analysis_options(*command, *arguments);
  const auto add_strengths = [&](const char* option, std::vector<std::string>& values,
                                 const char* help) {
    command->add_option(option, values, help)->delimiter(',');
  };
  add_strengths("--noise", arguments->noise,
                "standard deviations of Gaussian noise on pixels in 0..1; for event recordings the "
                "shares of events, 0 to 1, that are removed and added again at random places");
  add_strengths("--fgsm", arguments->fgsm, "epsilons of the fast gradient sign method");
  add_strengths("--pgd", arguments->pgd, "epsilons of projected gradient descent");
  command->add_option("--draws", arguments->draws, "number of encodings to average a gradient over")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command->add_option("--pgd-steps", arguments->pgd_steps, "number of gradient steps of --pgd")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command->footer(
      "Example:\n  bntt attack runs/demo --noise 0.1,0.2 --fgsm 2/255,8/255 --limit 1000");
  command->callback([arguments, &action] { action = [arguments] { return attack(*arguments); }; });
}

}  // namespace bntt::cli
