#include "experiment/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/crc32.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/text.h"
#include "convert/settings.h"
#include "toml/toml.h"
#include "train/presets.h"
#include "train/run_settings.h"

namespace bntt {

namespace {
namespace fs = std::filesystem;

std::string origin_of(const Experiment& experiment, const RunEntry& run) {
  return fmt::format("{}: run '{}'", experiment.name, run.name);
}

std::string digits_of(const std::string& text) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  return fmt::format("{:08x}", crc32({bytes, text.size()}));
}

RunConfig base_settings(const Experiment& experiment, const RunEntry& run) {
  if (!run.preset.empty()) {
    return config_from_toml(preset_text(run.preset), "preset " + run.preset);
  }
  const fs::path file = experiment.directory / run.config;
  return config_from_toml(read_text(file), file.string());
}

RunConfig changed_settings(const Experiment& experiment, const RunEntry& run, Scale scale,
                           std::size_t depth) {
  if (depth > experiment.runs.size()) {
    fail("{}: the run '{}' refers to itself through `like`", experiment.name, excerpt(run.name));
  }
  RunConfig config = run.like.empty()
                         ? base_settings(experiment, run)
                         : changed_settings(experiment, experiment.run(run.like), scale, depth + 1);
  const std::string origin = origin_of(experiment, run);
  for (const auto* changes : {&run.set, &run.at.at(scale)}) {
    for (const std::string& change : *changes) apply_setting(config, change, origin);
  }
  return config;
}

ConversionOptions conversion_of(const Experiment& experiment, const RunEntry& run, Scale scale) {
  const std::string origin = origin_of(experiment, run);
  ConversionOptions options =
      run.preset.empty() ? ConversionOptions{} : conversion_preset(run.preset);
  if (!run.method.empty()) options.method = conversion_method(run.method).name;
  for (const auto* changes : {&run.set, &run.at.at(scale)}) {
    for (const std::string& change : *changes) {
      read_conversion_settings(parse_toml(change, origin), options, origin);
    }
  }
  return options;
}

/// Uses the same recordings as the run with these settings.
ClassicalConfig classical_of(const RunEntry& run, Scale scale, const RunConfig& config) {
  ClassicalConfig classical = run.preset.empty() ? classical_defaults(run.method, config.data.name)
                                                 : classical_preset(run.preset, config.data.name);
  classical.seed = config.train.seed;
  classical.data.validation = config.data.validation;
  classical.data.limit_train = config.data.limit_train;
  classical.data.limit_test = config.data.limit_test;
  for (const auto* changes : {&run.set, &run.at.at(scale)}) {
    for (const std::string& change : *changes) apply_classical_setting(classical, change);
  }
  return classical;
}

/// Uses only characters that a file system accepts and a shell need not quote.
std::string plain_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_';
    name += plain ? c : '-';
  }
  return name;
}

}  // namespace

std::optional<fs::path> data_directory(const std::string& dataset, const std::string& root) {
  std::error_code error;
  if (!root.empty() && fs::is_directory(fs::path(root) / dataset, error)) {
    return fs::absolute(fs::path(root) / dataset);
  }
  const std::string& usual = dataset_info(dataset).usual_directory;
  if (!usual.empty() && fs::is_directory(usual, error)) return fs::path();
  if (root.empty()) return std::nullopt;
  const bool holds_others = std::ranges::any_of(dataset_names(), [&](const std::string& other) {
    return fs::is_directory(fs::path(root) / other, error);
  });
  if (holds_others) return std::nullopt;
  return fs::absolute(root);
}

RunConfig settings_of_run(const Experiment& experiment, const std::string& run, Scale scale) {
  return changed_settings(experiment, experiment.run(run), scale, 0);
}

/// Adds runs to a plan, each once.
class Planner {
 public:
  explicit Planner(const PlanOptions& options) { plan_.options = options; }

  void add(const Experiment& experiment) {
    for (const std::string& name : experiment.used_runs()) {
      Plan::Entry entry{experiment.name, name, {}};
      for (int64_t seed = 0; seed < plan_.options.seeds; ++seed) {
        entry.by_seed.push_back(planned(experiment, name, seed, 0));
        if (experiment.needs_weights(name)) need(entry.by_seed.back());
      }
      plan_.entries_.push_back(std::move(entry));
    }
  }

  Plan take() { return std::move(plan_); }

 private:
  /// Marks it for training, and the run that it starts from.
  void need(std::size_t index) {
    plan_.runs[index].trained = true;
    if (plan_.runs[index].from) need(*plan_.runs[index].from);
  }

  std::size_t planned(const Experiment& experiment, const std::string& name, int64_t seed,
                      std::size_t depth) {
    const RunEntry& entry = experiment.run(name);
    if (depth > experiment.runs.size()) {
      fail("{}: the run '{}' refers to itself through `from`", experiment.name, excerpt(name));
    }
    const Scale scale = plan_.options.scale;
    PlannedRun run{
        .name = name, .label = entry.label.empty() ? name : entry.label, .kind = entry.kind};
    if (!entry.from.empty()) run.from = planned(experiment, entry.from, seed, depth + 1);
    if (entry.kind == RunKind::convert) {
      run.config = plan_.runs[*run.from].config;
      run.conversion = conversion_of(experiment, entry, scale);
    } else {
      const bool trains = entry.kind == RunKind::train;
      run.config = settings_of_run(experiment, trains ? name : entry.like, scale);
      run.config.train.seed += seed;
      if (!trains) run.classical = classical_of(entry, scale, run.config);
    }
    run.seed = run.config.train.seed;
    find_data(run);
    run.key = digits_of(text_of(run));
    run.place = fmt::format("{}-{}-{}", plain_name(name), run.seed, run.key);
    const auto same = std::ranges::find(plan_.runs, run.key, &PlannedRun::key);
    if (same != plan_.runs.end()) return same - plan_.runs.begin();
    plan_.runs.push_back(std::move(run));
    return plan_.runs.size() - 1;
  }

  /// Everything that determines a run, without its location.
  std::string text_of(const PlannedRun& run) const {
    std::string text;
    if (run.conversion) {
      text = conversion_settings(*run.conversion).dump() + "\n";
    } else if (run.classical) {
      text = to_toml(*run.classical);
    } else {
      text = fmt::format("{}\nepochs {}\n", lasting_settings(run.config), run.config.train.epochs);
    }
    if (run.from) text += "from " + plan_.runs[*run.from].key + "\n";
    return text;
  }

  void find_data(PlannedRun& run) const {
    const std::string& dataset = run.config.data.name;
    const auto directory = data_directory(dataset, plan_.options.data);
    if (directory) {
      run.config.data.dir = directory->string();
    } else {
      run.problem = fmt::format("the data set {} was not found", dataset);
    }
    if (run.from && !plan_.runs[*run.from].problem.empty()) {
      run.problem = plan_.runs[*run.from].problem;
    }
  }

  Plan plan_;
};

std::vector<std::size_t> Plan::runs_of(const Experiment& experiment,
                                       const std::string& name) const {
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return entry.experiment == experiment.name && entry.run == name;
  });
  BNTT_CHECK(found != entries_.end());
  return found->by_seed;
}

Plan plan_runs(const std::vector<Experiment>& experiments, const PlanOptions& options) {
  Planner planner(options);
  for (const Experiment& experiment : experiments) planner.add(experiment);
  return planner.take();
}

}  // namespace bntt
