#include "train.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <new>
#include <optional>

#include "base/fail.h"
#include "base/files.h"
#include "base/threads.h"
#include "command.h"
#include "interrupt.h"
#include "kernels/kernel_set.h"
#include "train/break_even_table.h"
#include "train/memory_need.h"
#include "train/presets.h"
#include "train/run_settings.h"
#include "train/schedule.h"
#include "train/time_budget.h"

namespace bntt::cli {
namespace {

constexpr std::chrono::seconds kLongestSilence{10};

struct TrainArguments {
  SettingsArguments settings;
  std::string out;
  std::vector<std::string> resume;  // one: --resume alone, or --resume RUN
  std::string from;
  int threads = 0;
  double max_minutes = 0.0;
  CacheArguments cache;
};

/// The run's directory, and whether the run is resumed.
struct ChosenRun {
  RunPaths paths;
  bool resume = false;
};

ChosenRun chosen_run(const TrainArguments& arguments, bool resume) {
  const std::string resumed = arguments.resume.empty() ? "" : arguments.resume.front();
  if (!resumed.empty() && !arguments.out.empty() && resumed != arguments.out) {
    fail("--resume names the run {}, but --out names {}", resumed, arguments.out);
  }
  const std::string directory = arguments.out.empty() ? resumed : arguments.out;
  if (directory.empty()) fail("train needs --out with the directory of the run");
  return {{directory}, resume};
}

RunConfig settings_of(const TrainArguments& arguments, const ChosenRun& run) {
  std::optional<RunConfig> begun;
  if (run.resume && std::filesystem::exists(run.paths.settings())) {
    begun = read_run_settings(run.paths);
  }
  std::optional<RunConfig> config = described_settings(arguments.settings, begun);
  if (!config) {
    if (!run.resume) fail("train needs --preset or --config, or --resume to continue a run");
    fail("{}: holds no run to resume", run.paths.directory.string());
  }
  if (!arguments.from.empty()) {
    config->train.from = std::filesystem::absolute(arguments.from).lexically_normal().string();
  }
  return begun ? resumed_settings(run.paths, *begun, *config, arguments.settings.epochs.has_value())
               : *config;
}

constexpr const char* kSlowBf16 =
    "train.precision is bf16, but this processor has no bf16 multiplication (AVX512_BF16): "
    "emulating it gives the same result and takes many times as long as mixed";

std::string rates_text(const TrainConfig& train, int64_t step, int64_t steps_per_epoch) {
  std::string text;
  for (const RateStretch& stretch : rates_from(train, step, steps_per_epoch)) {
    text += text.empty()
                ? fmt::format("learning rate {:g}", stretch.learning_rate)
                : fmt::format(", {:g} from epoch {}, step {}", stretch.learning_rate,
                              stretch.first_step / steps_per_epoch + 1, stretch.first_step + 1);
  }
  return text.empty() ? "no step is left" : text;
}

std::string start_text(const std::string& from, const TakenNumbers& taken) {
  std::string text = fmt::format("starts with the weights of {}", from);
  if (!taken.drawn.empty())
    text += "; the classes differ, so the readout starts with new random weights";
  if (!taken.by_step.empty()) {
    text +=
        "; the number of steps differs, so gains and statistics are cut off or repeat their last "
        "step";
  }
  return text;
}

TrainHooks screen_hooks(Progress& progress, Rate& rate, int64_t batch_size,
                        const TrainingOptions& options, std::optional<TimeBudget>& budget) {
  TrainHooks hooks;
  const auto say = [&progress](const std::optional<std::string>& sentence) {
    if (sentence) progress.line(*sentence);
  };
  hooks.step = [&progress, &rate, &options, &budget, say, batch_size](const StepReport& report) {
    if (budget) say(budget->after_step(report));
    rate.add(batch_size);
    const double left = rate.seconds_for((report.steps - report.step) * batch_size);
    const std::string note =
        fmt::format("{:.0f} images/s  loss {:.3f}  accuracy {:.1f} %", rate.per_second(),
                    report.recent.mean_loss(), report.recent.accuracy());
    const std::string label =
        fmt::format("{}epoch {}/{}", options.label, report.epoch, report.epochs);
    progress.bar(label, report.batch, report.batches, note, left);
    if (report.logged && !options.quiet && !progress.on_terminal()) {
      progress.line(fmt::format("{}  step {}/{}  {}  learning rate {:g}  {} left", label,
                                report.step, report.steps, note, report.learning_rate,
                                duration_text(left)));
    }
  };
  hooks.epoch = [&progress, &options, &budget, say](const EpochReport& report) {
    if (budget) say(budget->after_epoch());
    if (options.quiet) return;
    std::string text = fmt::format("epoch {} done: train loss {:.4f}, accuracy {:.2f} %",
                                   report.epoch, report.train.mean_loss(), report.train.accuracy());
    if (report.windows) {
      text += fmt::format(
          "; {} steps of layers switched off (gamma below {:.4g}), {:.1f} % of the work left",
          report.windows->switched, report.windows->threshold, 100.0 * report.windows->work);
    }
    if (report.validation) {
      text +=
          fmt::format("; validation loss {:.4f}, accuracy {:.2f} %{}; {:.0f} spikes per image",
                      report.validation->sums.mean_loss(), report.validation->accuracy(),
                      report.best ? " (best so far)" : "", report.validation->spikes_per_image());
    }
    progress.line(text);
    for (const std::string& warning : report.warnings) {
      progress.line(fmt::format("warning: epoch {}: {}", report.epoch, warning));
    }
  };
  hooks.evaluating = [&progress, &options](const std::string& what, int64_t done, int64_t images) {
    progress.bar(options.label + what, done, images, fmt::format("{}/{} images", done, images),
                 0.0);
  };
  hooks.stop = [&budget] { return interrupted() || (budget && budget->over()); };
  return hooks;
}

/// Words for what ran out; `data` may not be there yet.
[[noreturn]] void fail_without_memory(const RunConfig& config, const DatasetSplits& data) {
  if (data.train.classes == 0) fail("not enough memory for the data set {}", config.data.name);
  const NetworkSpec spec = network_of(config, data.train.shape, data.train.classes);
  fail(
      "not enough memory: training {} images at once over {} steps takes about {}; a smaller "
      "train.batch, model.steps or model.width takes less",
      config.train.batch, spec.steps,
      bytes_text(training_bytes(spec, config.train.batch, config.train.precision)));
}

void tell_test(const TrainingResult& result, Progress& progress) {
  if (!result.test) return;
  progress.line(
      fmt::format("test accuracy {:.2f} % on {} images, {} steps, {:.0f} spikes per image",
                  result.test->accuracy(), result.test->sums.images, result.test->steps,
                  result.test->spikes_per_image()));
}

int train(const TrainArguments& arguments, bool resume) {
  const TrainClock clock = process_clock();
  set_threads(arguments.threads);
  const ChosenRun run = chosen_run(arguments, resume);
  expect_room_for_run(run.paths, run.resume);
  // Before the data are read: someone else's run is refused at once.
  RunLock lock;
  if (std::filesystem::is_directory(run.paths.directory)) lock = RunLock(run.paths.directory);
  const RunConfig config = settings_of(arguments, run);
  const std::string out = run.paths.directory.string();
  Progress progress;
  progress.never_silent_for(kLongestSilence);
  const TrainingResult result = run_training(config, run.paths, std::move(lock),
                                             {.resume = run.resume,
                                              .max_minutes = arguments.max_minutes,
                                              .clock = clock,
                                              .cache = arguments.cache},
                                             progress);
  if (result.end == TrainEnd::stopped) {
    if (result.test) {
      progress.line(fmt::format(
          "{:g} minutes are over; tested with {}", arguments.max_minutes,
          result.best_epoch > 0 ? fmt::format("the best weights, of epoch {}", result.best_epoch)
                                : "the last weights"));
      tell_test(result, progress);
    }
    progress.line(fmt::format("stopped after step {}; continue with: bntt train --out {} --resume",
                              result.step, out));
    return interrupted() ? kInterrupted : kDone;
  }
  progress.line(fmt::format("trained in {}", duration_text(result.seconds)));
  tell_test(result, progress);
  progress.line(fmt::format("run: {}", out));
  return kDone;
}

}  // namespace

void add_settings_options(CLI::App& command, SettingsArguments& arguments) {
  auto* preset = command.add_option("--preset", arguments.preset,
                                    fmt::format("one of {}", fmt::join(preset_names(), ", ")));
  command
      .add_option("--config", arguments.config,
                  "settings file in TOML, in the format of the presets")
      ->excludes(preset);
  command.add_option("--data", arguments.data, "directory of the data set");
  command
      .add_option("--set", arguments.settings,
                  "change one setting, such as model.width=0.25 (repeatable)")
      ->allow_extra_args(false);
  command.add_option(
      "--epochs", arguments.epochs,
      "train.epochs; for a run that is resumed, a different number extends or shortens it");
  command.add_option("--precision", arguments.precision,
                     "train.precision: mixed (the default) stores currents as bf16, fp32 as "
                     "floats; bf16 also stores gradients and multiplies in bf16");
  command.add_option("--limit-train", arguments.limit_train,
                     "use only the first N training images");
  command.add_option("--limit-test", arguments.limit_test, "use only the first N test images");
  command.add_option("--seed", arguments.seed, "train.seed");
}

std::optional<RunConfig> described_settings(const SettingsArguments& arguments,
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

TrainingResult run_training(RunConfig config, const RunPaths& paths, RunLock lock,
                            const TrainingOptions& options, Progress& progress) {
  const auto say = [&](const std::string& text) {
    if (!options.quiet) progress.line(text);
  };
  const TrainClock clock = options.clock ? options.clock : process_clock();
  DatasetSplits data;
  try {
    const int64_t epochs_before = options.resume && std::filesystem::exists(paths.settings())
                                      ? read_run_settings(paths).train.epochs
                                      : config.train.epochs;
    if (config.data.bin_us > 0 && !options.resume) {
      set_steps(config, steps_of_bins(config));
      say(fmt::format("{} steps, one for each bin of the longest recording", steps_of(config)));
    }
    data =
        open_run_data(config, config.data.dir, dataset_options(config), options.cache, &progress);
    keep_measured_statistics(data, config);
    if (config.train.from_thresholds && !std::filesystem::exists(paths.settings())) {
      take_thresholds(config);
    }
    if (config.train.break_even == BreakEvenSetting(BreakEvenSource::timed)) {
      say("timing sparse against dense convolutions, unless they are in the cache");
      config.train.break_even = break_even_values(machine_break_even(
          plan_stages(network_of(config, data.train.shape, data.train.classes)), break_even_file(),
          [&] { progress.line("waiting for another process that is timing convolutions"); }));
    }
    RunTrainer trainer(config, data, paths, options.resume, std::move(lock), clock);

    if (config.train.precision == Precision::bf16 && !kernels::kernels().bf16.native) {
      say(kSlowBf16);
    }
    say(fmt::format("{}: {} training images, {} steps of {} images per epoch, {} thread{}",
                    paths.directory.string(), data.train.size(), trainer.steps_per_epoch(),
                    config.train.batch, threads(), threads() == 1 ? "" : "s"));
    const std::string dense_above = dense_above_text(trainer.network());
    if (!dense_above.empty()) say(dense_above);
    if (trainer.taken()) say(start_text(config.train.from, *trainer.taken()));
    const int64_t step = trainer.position().step;
    if (step > 0) say(fmt::format("continuing after step {}", step));
    if (epochs_before != config.train.epochs) {
      say(fmt::format("{} epochs instead of {}: {}", config.train.epochs, epochs_before,
                      rates_text(config.train, step, trainer.steps_per_epoch())));
    }
    catch_interrupts();
    Rate rate;
    std::optional<TimeBudget> budget;
    if (options.max_minutes > 0.0) {
      const Split split = split_training(data.train.size(), config.data.validation);
      budget.emplace(60.0 * options.max_minutes, clock, split.validation.size(),
                     config.train.batch);
    }
    const TrainHooks hooks = screen_hooks(progress, rate, config.train.batch, options, budget);
    TrainingResult result{.end = trainer.run(hooks),
                          .step = trainer.position().step,
                          .seconds = rate.seconds(),
                          .best_epoch = trainer.position().best_epoch,
                          .test = std::nullopt};
    // The limit of time is an end, too; the run can still go on exactly, since resuming removes
    // what was logged after the checkpoint.
    const bool ended = result.end == TrainEnd::finished || !interrupted();
    if (ended && data.test.size() > 0) result.test = trainer.test(hooks);
    return result;
  } catch (const std::bad_alloc&) {
    fail_without_memory(config, data);
  }
}

void add_train(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("train", "Train a network, or continue a run");
  auto arguments = std::make_shared<TrainArguments>();
  add_settings_options(*command, arguments->settings);
  command->add_option("--out", arguments->out, "directory of the run");
  auto* resume =
      command
          ->add_option("--resume", arguments->resume,
                       "continue the run exactly where it stopped; --resume RUN needs no --out")
          ->expected(0, 1);
  command
      ->add_option("--from", arguments->from,
                   "start with the weights of another run or checkpoint; its images, classes and "
                   "steps may differ")
      ->excludes(resume);
  command->add_option("--threads", arguments->threads, "number of threads; 0: one per core")
      ->check(not_negative());
  command
      ->add_option("--max-minutes", arguments->max_minutes,
                   "stop after N minutes of this command, loading and validation included: write a "
                   "checkpoint, then test the best epoch so far. The schedule is still that of "
                   "all epochs; after the first steps and the first epoch, the command says how "
                   "many epochs fit. 0, the default: no limit")
      ->check(not_negative());
  add_cache_option(*command, arguments->cache);
  command->footer(
      "Example:\n  bntt train --preset authors-cifar10 --data cifar --set model.width=0.25 --out "
      "runs/narrow\n  bntt train --resume runs/narrow --epochs 140\n  bntt train --preset "
      "authors-cifar100 --data cifar100 --set model.width=0.25 --from runs/narrow --out runs/fine\n"
      "Ctrl-C writes a checkpoint and stops; --resume continues from it.");
  command->callback([arguments, resume, &action] {
    action = [arguments, resumes = resume->count() > 0] { return train(*arguments, resumes); };
  });
}

}  // namespace bntt::cli
