#include "train/run_settings.h"

#include "base/fail.h"
#include "base/files.h"
#include "base/json_difference.h"
#include "base/toml.h"

namespace bntt {
namespace fs = std::filesystem;

RunConfig read_run_settings(const RunPaths& paths) {
  if (!fs::exists(paths.settings())) {
    fail("{}: holds no run: expected the file {}", paths.directory.string(),
         paths.settings().filename().string());
  }
  return config_from_toml(read_text(paths.settings()), paths.settings().string());
}

void begin_run_directory(const RunPaths& paths, const RunConfig& config, bool may_exist) {
  const auto has_run = [&] {
    return fs::exists(paths.settings()) || fs::exists(paths.checkpoint()) ||
           fs::exists(paths.best()) || fs::exists(paths.metrics());
  };
  if (!may_exist && has_run()) {
    fail("{}: already holds a run: continue it with --resume, or choose another directory",
         paths.directory.string());
  }
  std::error_code error;
  fs::create_directories(paths.directory, error);
  if (error) fail("{}: cannot be created: {}", paths.directory.string(), error.message());
  write_text_atomically(paths.settings(), to_toml(config));
}

void expect_same_settings(const RunPaths& paths, const RunConfig& begun, RunConfig wanted) {
  wanted.data.dir = begun.data.dir;
  const auto* values = std::get_if<std::vector<double>>(&wanted.train.break_even);
  if (values == nullptr || values->empty()) wanted.train.break_even = begun.train.break_even;
  if (!wanted.data.mean) wanted.data.mean = begun.data.mean;
  if (!wanted.data.deviation) wanted.data.deviation = begun.data.deviation;
  const std::string difference = first_difference(parse_toml(to_toml(wanted), "settings"),
                                                  parse_toml(to_toml(begun), "settings"));
  if (!difference.empty()) {
    fail("{}: a resumed run keeps its settings, but {}", paths.settings().string(), difference);
  }
}

}  // namespace bntt
