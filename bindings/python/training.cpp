#include <pybind11/functional.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <optional>

#include "arrays.h"
#include "base/cache_directory.h"
#include "base/fail.h"
#include "parts.h"
#include "train/break_even_table.h"
#include "train/evaluate.h"
#include "train/model_card.h"
#include "train/presets.h"
#include "train/run_lock.h"
#include "train/run_settings.h"
#include "train/run_trainer.h"
#include "train/start_from.h"

namespace bntt::python {
namespace {

/// Receives every event as a dict; training stops if it returns true.
using Listener = std::function<bool(const py::dict&)>;

struct Settings {
  std::string text;  ///< TOML; empty: the settings of the run being resumed
  std::string origin;
  std::vector<std::string> changes;  ///< such as train.epochs=3
  std::optional<std::string> data;
};

bool changes_epochs(const Settings& settings) {
  return std::ranges::any_of(settings.changes, [](const std::string& change) {
    return change.starts_with("train.epochs=");
  });
}

RunConfig config_of(const Settings& settings, const RunPaths& paths, bool resume) {
  std::optional<RunConfig> begun;
  if (resume && std::filesystem::exists(paths.settings())) begun = read_run_settings(paths);
  RunConfig config;
  if (!settings.text.empty()) {
    config = config_from_toml(settings.text, settings.origin);
  } else if (begun) {
    config = *begun;
  } else if (resume) {
    fail("{}: holds no run to resume", paths.directory.string());
  } else {
    fail("train: no settings were given, expected a preset, a file or a dict, or resume=True");
  }
  for (const std::string& change : settings.changes) apply_setting(config, change, "settings");
  if (settings.data) config.data.dir = std::filesystem::absolute(*settings.data).string();
  return begun ? resumed_settings(paths, *begun, config, changes_epochs(settings)) : config;
}

/// Warns about recordings that last longer than the network's bins.
DatasetSplits open_data(const RunConfig& config, DatasetOptions options) {
  options.cache.directory = user_cache_directory();
  options.progress = [](const std::string&, int64_t, int64_t) { raise_if_interrupted(); };
  int64_t cut = 0;
  options.recording = [&](int64_t bins) {
    if (bins > options.events.frames) ++cut;
  };
  DatasetSplits data = open_dataset(config.data.name, config.data.dir, options);
  if (cut > 0) {
    warn(
        fmt::format("{} recordings are longer than the network's {} bins of {} microseconds and "
                    "are cut off",
                    cut, options.events.frames, options.events.bin_us));
  }
  return data;
}

/// Passes the events of a training to the listener, holding the interpreter's lock only meanwhile.
class Hooks {
 public:
  explicit Hooks(const Listener& listener) : listener_(listener) {}

  TrainHooks hooks() {
    return {.step =
                [this](const StepReport& report) {
                  tell([&](py::dict& event) {
                    event["kind"] = "step";
                    event["epoch"] = report.epoch;
                    event["epochs"] = report.epochs;
                    event["step"] = report.step;
                    event["steps"] = report.steps;
                    event["learning_rate"] = report.learning_rate;
                    event["loss"] = report.recent.mean_loss();
                    event["accuracy"] = report.recent.accuracy();
                  });
                },
            .epoch =
                [this](const EpochReport& report) {
                  tell([&](py::dict& event) {
                    event["kind"] = "epoch";
                    event["epoch"] = report.epoch;
                    event["loss"] = report.train.mean_loss();
                    event["accuracy"] = report.train.accuracy();
                    event["best"] = report.best;
                    for (const std::string& warning : report.warnings) {
                      warn(fmt::format("epoch {}: {}", report.epoch, warning));
                    }
                    if (!report.validation) return;
                    event["validation_loss"] = report.validation->sums.mean_loss();
                    event["validation_accuracy"] = report.validation->accuracy();
                    event["spikes_per_image"] = report.validation->spikes_per_image();
                  });
                },
            .evaluating =
                [this](const std::string& what, int64_t done, int64_t images) {
                  tell([&](py::dict& event) {
                    event["kind"] = "evaluating";
                    event["what"] = what;
                    event["done"] = done;
                    event["images"] = images;
                  });
                },
            .stop = [this] { return stop_; }};
  }
  /// Whether it was ended by Ctrl-C.
  bool interrupted() const { return interrupted_; }

 private:
  /// Ctrl-C may arrive in C++ code or in the listener. In both cases the trainer writes a
  /// checkpoint before train() raises KeyboardInterrupt again.
  template <typename Fill>
  void tell(const Fill& fill) {
    const py::gil_scoped_acquire lock;
    try {
      raise_if_interrupted();
      py::dict event;
      fill(event);
      if (listener_(event)) stop_ = true;
    } catch (const py::error_already_set& error) {
      if (!error.matches(PyExc_KeyboardInterrupt)) throw;
      interrupted_ = stop_ = true;
    }
  }

  const Listener& listener_;
  bool stop_ = false;
  bool interrupted_ = false;
};

py::dict result_of(const Evaluation& evaluation, const Network& network) {
  py::dict result;
  result["accuracy"] = evaluation.accuracy();
  result["loss"] = evaluation.sums.mean_loss();
  result["images"] = evaluation.sums.images;
  result["steps"] = evaluation.steps;
  result["spikes_per_image"] = evaluation.spikes_per_image();
  const std::vector<double> densities = evaluation.density(network);
  py::dict stages;
  for (std::size_t i = 0; i < densities.size(); ++i) {
    stages[py::str(network.stages()[i].name)] = densities[i];
  }
  result["density"] = stages;
  return result;
}

py::dict train(const Settings& settings, const std::filesystem::path& out, bool resume,
               const Listener& listener) {
  const RunPaths paths{out};
  Hooks told(listener);
  TrainEnd end = TrainEnd::stopped;
  int64_t step = 0;
  std::optional<Evaluation> test;
  std::optional<Network> network;
  {
    const py::gil_scoped_release release;
    expect_room_for_run(paths, resume);
    RunLock lock;
    if (std::filesystem::is_directory(paths.directory)) lock = RunLock(paths.directory);
    RunConfig config = config_of(settings, paths, resume);
    if (config.data.bin_us > 0 && !resume) set_steps(config, steps_of_bins(config));
    const DatasetSplits data = open_data(config, dataset_options(config));
    keep_measured_statistics(data, config);
    if (config.train.from_thresholds && !std::filesystem::exists(paths.settings())) {
      take_thresholds(config);
    }
    if (config.train.break_even == BreakEvenSetting(BreakEvenSource::timed)) {
      config.train.break_even = break_even_values(
          machine_break_even(plan_stages(network_of(config, data.train.shape, data.train.classes)),
                             break_even_file(), [] {}));
    }
    RunTrainer trainer(config, data, paths, resume, std::move(lock));
    const TrainHooks hooks = told.hooks();
    end = trainer.run(hooks);
    step = trainer.position().step;
    if (end == TrainEnd::finished && data.test.size() > 0) {
      test = trainer.test(hooks);
      network = load_run_network(paths);
    }
  }
  if (told.interrupted()) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw py::error_already_set();
  }
  py::dict result;
  result["run"] = out;
  result["finished"] = end == TrainEnd::finished;
  result["step"] = step;
  if (test) result["test"] = result_of(*test, *network);
  return result;
}

struct EvaluateArguments {
  std::optional<std::string> data;
  std::string split = "test";
  int64_t limit = 0;
  int64_t steps = 0;
};

py::dict evaluate_run(const std::filesystem::path& run, const EvaluateArguments& arguments) {
  if (arguments.split != "test" && arguments.split != "train") {
    fail("split: '{}', expected 'test' or 'train'", arguments.split);
  }
  std::optional<RunModel> model;
  Evaluation evaluation;
  {
    const py::gil_scoped_release release;
    const RunPaths paths{run};
    RunConfig config = read_run_settings(paths);
    model = load_run_model(paths);
    expect_network_of(paths, config, model->network.spec());
    if (arguments.data) config.data.dir = *arguments.data;
    const bool on_test = arguments.split == "test";
    DatasetOptions options = dataset_options(config);
    options.need_train = !on_test;
    options.need_test = on_test;
    options.limit_train = on_test ? 0 : arguments.limit;
    options.limit_test = on_test ? arguments.limit : 0;
    DatasetSplits data = open_data(config, options);
    fit_data_to_model(*model, run.string(), config.data.name, data);
    const ImageSet& images = on_test ? data.test : data.train;
    evaluation = evaluate(model->network, images, {0, images.size()},
                          {.encoder = encoder_for(*model, config, data),
                           .seed = static_cast<uint64_t>(config.train.seed),
                           .steps = arguments.steps,
                           .progress = [](int64_t) {
                             raise_if_interrupted();
                             return false;
                           }});
  }
  return result_of(evaluation, model->network);
}

}  // namespace

void add_training(py::module_& module) {
  module.def("train",
             [](const std::string& text, const std::string& origin,
                const std::vector<std::string>& changes, const std::optional<std::string>& data,
                const std::filesystem::path& out, bool resume, const Listener& listener) {
               return train({text, origin, changes, data}, out, resume, listener);
             });
  module.def("evaluate",
             [](const std::filesystem::path& run, const std::optional<std::string>& data,
                const std::string& split, int64_t limit, int64_t steps) {
               return evaluate_run(run, {data, split, limit, steps});
             });
  module.def("preset_names", &preset_names);
  module.def("preset_text", [](const std::string& name) { return std::string(preset_text(name)); });
}

}  // namespace bntt::python
