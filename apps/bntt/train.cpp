#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "base/fail.h"
#include "base/files.h"
#include "base/threads.h"
#include "command.h"
#include "data_options.h"
#include "interrupt.h"
#include "progress.h"
#include "train/break_even_table.h"
#include "train/presets.h"
#include "train/run_settings.h"
#include "train/trainer.h"

namespace bntt::cli {
namespace {

struct TrainArguments {
  std::string preset;
  std::string config;
  std::optional<std::string> data;
  std::vector<std::string> settings;
  std::string out;
  bool resume = false;
  int threads = 0;
  std::optional<int64_t> epochs;
  std::optional<std::string> precision;
  std::optional<int64_t> limit_train;
  std::optional<int64_t> limit_test;
  std::optional<int64_t> seed;
  double max_minutes = 0.0;
  CacheArguments cache;
};

/// The settings that the command line describes, or nothing when it leaves them to the run being
/// resumed.
std::optional<RunConfig> described_settings(const TrainArguments& arguments,
                                            const std::optional<RunConfig>& begun) {
  RunConfig config;
  if (!arguments.preset.empty()) {
    config = config_from_toml(preset_text(arguments.preset), "preset " + arguments.preset);
  } else if (!arguments.config.empty()) {
    config = config_from_toml(read_text(arguments.config), arguments.config);
  } else if (begun) {
    config = *begun;
  } else {
    return std::nullopt;
  }
  for (const std::string& setting : arguments.settings) apply_setting(config, setting);
  const auto set = [&](const char* key, const auto& value) {
    if (value) apply_setting(config, fmt::format("{}={}", key, *value), "command line");
  };
  set("train.epochs", arguments.epochs);
  set("train.precision", arguments.precision);
  set("data.limit_train", arguments.limit_train);
  set("data.limit_test", arguments.limit_test);
  set("train.seed", arguments.seed);
  if (arguments.data) config.data.dir = std::filesystem::absolute(*arguments.data).string();
  return config;
}

RunConfig settings_of(const TrainArguments& arguments, const RunPaths& paths) {
  std::optional<RunConfig> begun;
  if (arguments.resume && std::filesystem::exists(paths.settings())) {
    begun = read_run_settings(paths);
  }
  const std::optional<RunConfig> config = described_settings(arguments, begun);
  if (!config) {
    if (!arguments.resume)
      fail("train needs --preset or --config, or --resume for a run already begun");
    fail("{}: holds no run to resume", paths.directory.string());
  }
  if (!begun) return *config;
  expect_same_settings(paths, *begun, *config);
  RunConfig resumed = *config;
  resumed.train.break_even = begun->train.break_even;
  return resumed;
}

TrainHooks screen_hooks(Progress& progress, Rate& rate, int64_t batch_size,
                        std::function<bool()> stop) {
  TrainHooks hooks;
  hooks.step = [&progress, &rate, batch_size](const StepReport& report) {
    rate.add(batch_size);
    const double left = rate.seconds_for((report.steps - report.step) * batch_size);
    const std::string note =
        fmt::format("{:.0f} images/s  loss {:.3f}  accuracy {:.1f} %", rate.per_second(),
                    report.recent.mean_loss(), report.recent.accuracy());
    const std::string label = fmt::format("epoch {}/{}", report.epoch, report.epochs);
    progress.bar(label, report.batch, report.batches, note, left);
    if (report.logged && !progress.on_terminal()) {
      progress.line(fmt::format("{}  step {}/{}  {}  learning rate {:g}  {} left", label,
                                report.step, report.steps, note, report.learning_rate,
                                duration_text(left)));
    }
  };
  hooks.epoch = [&progress](const EpochReport& report) {
    std::string text = fmt::format("epoch {} done: train loss {:.4f}, accuracy {:.2f} %",
                                   report.epoch, report.train.mean_loss(), report.train.accuracy());
    if (report.validation) {
      text +=
          fmt::format("; validation loss {:.4f}, accuracy {:.2f} %{}; {:.0f} spikes per image",
                      report.validation->sums.mean_loss(), report.validation->accuracy(),
                      report.best ? " (best so far)" : "", report.validation->spikes_per_image());
    }
    progress.line(text);
  };
  hooks.evaluating = [&progress](const std::string& what, int64_t done, int64_t images) {
    progress.bar(what, done, images, fmt::format("{}/{} images", done, images), 0.0);
  };
  hooks.stop = std::move(stop);
  return hooks;
}

int train(const TrainArguments& arguments) {
  set_threads(arguments.threads);
  const RunPaths paths{arguments.out};
  RunConfig config = settings_of(arguments, paths);
  Progress progress;
  const DatasetSplits data =
      open_run_data(config, config.data.dir, dataset_options(config), arguments.cache, &progress);
  keep_measured_statistics(data, config);
  if (config.train.break_even == BreakEvenSetting(BreakEvenSource::timed)) {
    progress.line("timing sparse against dense convolutions, unless this machine knows them");
  }
  Trainer trainer(config, data, paths, arguments.resume);

  progress.line(fmt::format("{}: {} training images, {} steps of {} images per epoch, {} threads",
                            arguments.out, data.train.size(), trainer.steps_per_epoch(),
                            config.train.batch, threads()));
  progress.line(dense_above_text(trainer.network()));
  if (trainer.position().step > 0) {
    progress.line(fmt::format("going on after step {}", trainer.position().step));
  }
  catch_interrupts();
  Rate rate;
  const TrainHooks hooks = screen_hooks(progress, rate, config.train.batch, [&] {
    return interrupted() ||
           (arguments.max_minutes > 0.0 && rate.seconds() > 60.0 * arguments.max_minutes);
  });
  if (trainer.run(hooks) == TrainEnd::stopped) {
    progress.line(fmt::format("stopped after step {}; continue with: bntt train --out {} --resume",
                              trainer.position().step, arguments.out));
    return interrupted() ? kInterrupted : kDone;
  }
  progress.line(fmt::format("trained in {}", duration_text(rate.seconds())));
  if (data.test.size() > 0) {
    const Evaluation test = trainer.test(hooks);
    progress.line(
        fmt::format("test accuracy {:.2f} % on {} images, {} steps, {:.0f} spikes per image",
                    test.accuracy(), test.sums.images, test.steps, test.spikes_per_image()));
  }
  progress.line(fmt::format("run: {}", arguments.out));
  return kDone;
}

}  // namespace

void add_train(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("train", "Train a network, or continue a run");
  auto arguments = std::make_shared<TrainArguments>();
  auto* preset = command->add_option("--preset", arguments->preset,
                                     fmt::format("one of {}", fmt::join(preset_names(), ", ")));
  command->add_option("--config", arguments->config, "settings file, as the presets are")
      ->excludes(preset);
  command->add_option("--data", arguments->data, "directory of the data set");
  command
      ->add_option("--set", arguments->settings,
                   "change one setting, as model.width=0.25 (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--out", arguments->out, "directory of the run")->required();
  command->add_flag("--resume", arguments->resume, "continue the run exactly where it stopped");
  command->add_option("--threads", arguments->threads, "0: one per core")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--epochs", arguments->epochs, "train.epochs");
  command->add_option(
      "--precision", arguments->precision,
      "train.precision: mixed (the default) keeps currents as bf16, fp32 as floats");
  command->add_option("--limit-train", arguments->limit_train, "use the first N training images");
  command->add_option("--limit-test", arguments->limit_test, "use the first N test images");
  command
      ->add_option("--max-minutes", arguments->max_minutes, "stop with a checkpoint after so long")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--seed", arguments->seed, "train.seed");
  add_cache_option(*command, arguments->cache);
  command->footer(
      "Example:\n  bntt train --preset authors-cifar10 --data cifar --set model.width=0.25 --out "
      "runs/narrow\nCtrl-C leaves a checkpoint; --resume goes on from it.");
  command->callback([arguments, &action] { action = [arguments] { return train(*arguments); }; });
}

}  // namespace bntt::cli
