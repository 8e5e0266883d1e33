#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/fail.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/threads.h"
#include "command.h"
#include "experiment/check_data.h"
#include "experiment_session.h"
#include "model/run_paths.h"

namespace bntt::cli {
namespace {
namespace fs = std::filesystem;

std::vector<Experiment> chosen_experiments(const std::string& name) {
  std::vector<Experiment> experiments;
  if (name == "all") {
    for (const std::string& each : experiment_names()) {
      experiments.push_back(built_in_experiment(each));
    }
  } else if (name.ends_with(".toml")) {
    experiments.push_back(experiment_from_toml(read_text(name), name));
    experiments.back().name = fs::path(name).stem().string();
    experiments.back().directory = fs::absolute(name).parent_path();
  } else {
    experiments.push_back(built_in_experiment(name));
  }
  return experiments;
}

int experiment(const ExperimentArguments& arguments) {
  set_threads(arguments.threads);
  std::vector<Experiment> experiments = chosen_experiments(arguments.name);
  if (fs::exists(RunPaths{arguments.out}.settings())) {
    fail("{}: is a run, expected a directory for the runs and results of experiments",
         arguments.out);
  }
  PlanOptions options{.seeds = arguments.seeds, .data = arguments.data};
  for (const auto& [scale, name] : enum_names(Scale{})) {
    if (name == arguments.scale) options.scale = scale;
  }
  Plan plan = plan_runs(experiments, options);
  check_data(plan);
  return run_experiments(arguments, std::move(experiments), std::move(plan));
}

}  // namespace

void add_experiment(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "experiment", "Repeat a table or figure of the paper, or an experiment of your own");
  auto arguments = std::make_shared<ExperimentArguments>();
  command
      ->add_option("name", arguments->name,
                   fmt::format("one of {}, all, or a .toml file of your own",
                               fmt::join(experiment_names(), ", ")))
      ->required();
  command
      ->add_option("--scale", arguments->scale,
                   "full (the paper's setting), small (all experiments within 150 minutes) or tiny "
                   "(within one)")
      ->check(CLI::IsMember({"full", "small", "tiny"}))
      ->capture_default_str();
  command->add_option("--seeds", arguments->seeds, "train every run with N seeds")
      ->check(positive())
      ->capture_default_str();
  command->add_option("--data", arguments->data,
                      "directory with a folder for each data set (cifar10, nmnist, ...), or the "
                      "directory of the only data set needed");
  command->add_option("--out", arguments->out, "directory for runs and results")->required();
  command->add_flag("--dry-run", arguments->dry_run,
                    "only print what would be done and how long it would take");
  command->add_option("--threads", arguments->threads, "number of threads; 0: one per core")
      ->check(not_negative());
  command
      ->add_option("--jobs", arguments->jobs,
                   "number of runs to make at once, which share the threads; 0: one per thread, as "
                   "far as memory allows")
      ->check(not_negative());
  command->add_option("--only-run", arguments->only_run)->group("");  // for our own processes
  add_cache_option(*command, arguments->cache);
  command->footer(
      "Example:\n  bntt experiment table1 --scale small --data DIR --out results\n"
      "Ctrl-C stops; run the same command again to continue. Experiments share their runs.");
  command->callback(
      [arguments, &action] { action = [arguments] { return experiment(*arguments); }; });
}

}  // namespace bntt::cli
