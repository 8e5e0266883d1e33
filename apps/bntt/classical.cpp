#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "base/fail.h"
#include "base/threads.h"
#include "classical_text.h"
#include "command.h"
#include "data_options.h"
#include "interrupt.h"
#include "progress.h"
#include "train/run_lock.h"

namespace bntt::cli {
namespace {
namespace fs = std::filesystem;

constexpr std::chrono::seconds kLongestSilence{10};

struct ClassicalArguments {
  std::string method;
  std::string preset;
  std::string data;
  std::string dataset;
  std::string out;
  std::vector<std::string> settings;
  std::optional<int64_t> limit_train;
  std::optional<int64_t> limit_test;
  std::optional<int64_t> seed;
  int threads = 0;
  bool json = false;
};

std::string dataset_of(const ClassicalArguments& arguments) {
  if (!arguments.dataset.empty()) return arguments.dataset;
  std::string found = recognised_recordings(arguments.data);
  if (found.empty()) {
    fail(
        "{}: is not recognised as nmnist, dvs-cifar10 or dvs-gesture: name the data set with "
        "--dataset, such as --dataset event-folder",
        arguments.data);
  }
  return found;
}

ClassicalConfig config_of(const ClassicalArguments& arguments) {
  // A wrong method or preset is reported before anything else.
  if (!arguments.method.empty()) classical_method(arguments.method);
  if (!arguments.preset.empty()) classical_preset(arguments.preset, "");
  if (arguments.method.empty() && arguments.preset.empty()) {
    fail("classical: names no method, expected one of {}, or --preset",
         fmt::join(classical_method_names(), ", "));
  }
  const std::string dataset = dataset_of(arguments);
  ClassicalConfig config = arguments.preset.empty() ? classical_defaults(arguments.method, dataset)
                                                    : classical_preset(arguments.preset, dataset);
  if (!arguments.method.empty() && config.method != arguments.method) {
    fail("classical: the method is {}, but the preset {} is one of {}", arguments.method,
         arguments.preset, config.method);
  }
  config.data.dir = fs::absolute(arguments.data).lexically_normal().string();
  for (const std::string& setting : arguments.settings) apply_classical_setting(config, setting);
  const auto set = [&](const char* key, const std::optional<int64_t>& value) {
    if (value) apply_classical_setting(config, fmt::format("{}={}", key, *value));
  };
  set("data.limit_train", arguments.limit_train);
  set("data.limit_test", arguments.limit_test);
  set("seed", arguments.seed);
  return config;
}

/// The directory of the run while it is being made: gone again if nothing is written.
class NewRun {
 public:
  explicit NewRun(const fs::path& directory) : paths_{directory}, is_new_(!fs::exists(directory)) {
    expect_room_for_classical_run(paths_);
    lock_ = RunLock(directory);
  }
  NewRun(const NewRun&) = delete;
  NewRun& operator=(const NewRun&) = delete;
  ~NewRun() {
    if (written_ || !is_new_) return;
    lock_ = RunLock();
    std::error_code ignored;
    fs::remove(paths_.directory, ignored);  // only if it is empty
  }

  void write(const ClassicalConfig& config, const ClassicalStudy& study) {
    write_classical_run(paths_, config, study);
    written_ = true;
  }

 private:
  ClassicalPaths paths_;
  bool is_new_;
  bool written_ = false;
  RunLock lock_;
};

std::optional<ClassicalStudy> run_study(const ClassicalConfig& config, bool silent) {
  if (silent) {
    return study_classical(config,
                           [](const std::string&, int64_t, int64_t) { return interrupted(); });
  }
  Progress progress;
  progress.never_silent_for(kLongestSilence);
  std::string now;
  Rate rate;
  return study_classical(config, [&](const std::string& what, int64_t done, int64_t of) {
    if (what != now) {
      now = what;
      rate = Rate();
    }
    rate.add(done - rate.done());
    progress.bar(what, done, of, fmt::format("{}/{}", done, of), rate.seconds_for(of - done));
    return interrupted();
  });
}

int classical(const ClassicalArguments& arguments) {
  set_threads(arguments.threads);
  const ClassicalConfig config = config_of(arguments);
  catch_interrupts();
  NewRun run(arguments.out);
  std::optional<ClassicalStudy> study = run_study(config, arguments.json);
  if (!study) {
    fmt::print(stderr, "bntt: stopped; nothing was written\n");
    return kInterrupted;
  }
  run.write(config, *study);
  const ClassicalRun made{config, std::move(study->result), std::move(study->times)};
  if (arguments.json) {
    fmt::print("{}\n", classical_json(made).dump(2));
  } else {
    fmt::print("{}run: {}\n", classical_text(made), arguments.out);
  }
  return kDone;
}

}  // namespace

void add_classical(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "classical", "Classify event recordings without a trained network: HATS, HOTS, HFirst");
  auto arguments = std::make_shared<ClassicalArguments>();
  command->add_option("method", arguments->method,
                      fmt::format("one of {}; not needed with --preset",
                                  fmt::join(classical_method_names(), ", ")));
  command->add_option("--preset", arguments->preset,
                      fmt::format("published settings, one of {}; --set changes them",
                                  fmt::join(classical_preset_names(), ", ")));
  command->add_option("--data", arguments->data, "directory of the data set")->required();
  command->add_option("--dataset", arguments->dataset,
                      "name of the data set; default: recognised from its folders");
  command->add_option("--out", arguments->out, "directory of the run")->required();
  command
      ->add_option(
          "--set", arguments->settings,
          "change one setting, such as hats.cell=10 (repeatable; docs/classical.md lists them)")
      ->allow_extra_args(false);
  command->add_option("--limit-train", arguments->limit_train,
                      "use only the first N training recordings");
  command->add_option("--limit-test", arguments->limit_test,
                      "use only the first N test recordings");
  command->add_option("--seed", arguments->seed, "seed of random prototypes and of the classifier");
  command->add_option("--threads", arguments->threads, "number of threads; 0: one per core")
      ->check(not_negative());
  command->add_flag("--json", arguments->json, "print JSON");
  command->footer(
      "Example:\n  bntt classical hats --data DIR --out runs/hats\n"
      "  bntt classical hots --data DIR --set hots.classifier=svm --out runs/hots\n"
      "  bntt classical --preset hats-ottati --data DIR --out runs/ottati\n"
      "  bntt report runs/hats runs/hots --out both.html");
  command->callback(
      [arguments, &action] { action = [arguments] { return classical(*arguments); }; });
}

}  // namespace bntt::cli
