#include "train/run_settings.h"

#include "base/fail.h"
#include "base/files.h"
#include "base/json_difference.h"
#include "base/text.h"
#include "toml/toml.h"

namespace bntt {
namespace fs = std::filesystem;

RunConfig read_run_settings(const RunPaths& paths) {
  if (fs::exists(paths.classical())) {
    fail(
        "{}: holds a run of a classical method, which has no network: use bntt inspect or bntt "
        "report",
        paths.directory.string());
  }
  if (!fs::exists(paths.settings())) {
    fail("{}: holds no run: expected the file {}", paths.directory.string(),
         paths.settings().filename().string());
  }
  return config_from_toml(read_text(paths.settings()), paths.settings().string());
}

void expect_room_for_run(const RunPaths& paths, bool may_exist) {
  std::error_code error;
  if (!fs::exists(paths.directory, error)) return;
  if (!fs::is_directory(paths.directory, error)) {
    fail("{}: is a file, expected a directory for the run", paths.directory.string());
  }
  if (fs::exists(paths.classical())) {
    fail("{}: already holds a run of a classical method: choose another directory",
         paths.directory.string());
  }
  const bool has_run = fs::exists(paths.settings()) || fs::exists(paths.checkpoint()) ||
                       fs::exists(paths.best()) || fs::exists(paths.metrics());
  if (has_run && !may_exist) {
    fail("{}: already holds a run: continue it with --resume, or choose another directory",
         paths.directory.string());
  }
  if (has_run) return;  // other files beside a run are allowed
  for (fs::directory_iterator entry(paths.directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    // The output of this command itself may be redirected to a log there.
    const bool harmless = name.starts_with('.') || name.ends_with(".log") || name.ends_with(".txt");
    if (!is_run_file(name) && !harmless) {
      fail("{}: holds '{}', which does not belong to a run; expected a new or empty directory",
           paths.directory.string(), excerpt(name));
    }
  }
}

void begin_run_directory(const RunPaths& paths, const RunConfig& config, bool may_exist) {
  expect_room_for_run(paths, may_exist);
  std::error_code error;
  fs::create_directories(paths.directory, error);
  if (error) fail("{}: cannot be created: {}", paths.directory.string(), error.message());
  write_text_atomically(paths.settings(), to_toml(config));
}

std::string lasting_settings(const RunConfig& config) {
  RunConfig lasting = config;
  lasting.data.dir.clear();
  lasting.train.epochs = TrainConfig{}.epochs;
  return to_toml(lasting);
}

void expect_unedited_settings(const RunPaths& paths, const std::string& of_checkpoint) {
  if (of_checkpoint.empty() || !fs::exists(paths.settings())) return;
  const std::string origin = paths.checkpoint().string() + ": settings";
  // Parsed as settings, so that a setting newer than the checkpoint gets its default.
  const std::string before = lasting_settings(config_from_toml(of_checkpoint, origin));
  const std::string now = lasting_settings(read_run_settings(paths));
  const std::string difference =
      first_difference(parse_toml(now, "settings"), parse_toml(before, "settings"));
  if (!difference.empty()) {
    fail("{}: was changed after the run began: {} as in the checkpoint", paths.settings().string(),
         difference);
  }
}

void change_epochs(const RunPaths& paths, int64_t epochs) {
  if (!fs::exists(paths.settings())) return;
  RunConfig config = read_run_settings(paths);
  if (config.train.epochs == epochs) return;
  config.train.epochs = epochs;
  write_text_atomically(paths.settings(), to_toml(config));
}

void expect_network_of(const RunPaths& paths, const RunConfig& config, const NetworkSpec& trained) {
  const NetworkSpec described = network_of(config, trained.input, classes_of(trained));
  if (described == trained) return;
  fail("{}: describes a different network from the one that was trained: {}",
       paths.settings().string(),
       first_difference(parse_json(to_json(described), "settings"),
                        parse_json(to_json(trained), "checkpoint")));
}

void expect_same_settings(const RunPaths& paths, const RunConfig& begun, RunConfig wanted) {
  wanted.data.dir = begun.data.dir;
  const auto* values = std::get_if<std::vector<double>>(&wanted.train.break_even);
  if (values == nullptr || values->empty()) wanted.train.break_even = begun.train.break_even;
  if (wanted.train.from.empty()) wanted.train.from = begun.train.from;
  if (wanted.train.from_thresholds && wanted.model.thresholds.empty()) {
    wanted.model.thresholds = begun.model.thresholds;
  }
  if (wanted.data.bin_us > 0) set_steps(wanted, steps_of(begun));
  if (!wanted.data.mean) wanted.data.mean = begun.data.mean;
  if (!wanted.data.deviation) wanted.data.deviation = begun.data.deviation;
  const std::string difference = first_difference(parse_toml(to_toml(wanted), "settings"),
                                                  parse_toml(to_toml(begun), "settings"));
  if (!difference.empty()) {
    fail("{}: a resumed run keeps its settings, but {}", paths.settings().string(), difference);
  }
}

RunConfig resumed_settings(const RunPaths& paths, const RunConfig& begun, const RunConfig& wanted,
                           bool may_change_epochs) {
  RunConfig compared = begun;
  if (may_change_epochs) compared.train.epochs = wanted.train.epochs;
  expect_same_settings(paths, compared, wanted);
  RunConfig resumed = wanted;
  resumed.train.break_even = begun.train.break_even;
  resumed.train.from = begun.train.from;
  if (resumed.train.from_thresholds) resumed.model.thresholds = begun.model.thresholds;
  if (resumed.data.bin_us > 0) set_steps(resumed, steps_of(begun));
  if (!resumed.data.mean) resumed.data.mean = begun.data.mean;
  if (!resumed.data.deviation) resumed.data.deviation = begun.data.deviation;
  return resumed;
}

}  // namespace bntt
