#include "train/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/fail.h"
#include "base/files.h"
#include "base/threads.h"
#include "command.h"
#include "interrupt.h"
#include "train.h"
#include "train/run_settings.h"

namespace bntt::cli {
namespace {
namespace fs = std::filesystem;

constexpr std::chrono::seconds kLongestSilence{10};

struct SweepArguments {
  SettingsArguments settings;
  std::vector<std::string> over;
  std::string out;
  int threads = 0;
  CacheArguments cache;
};

std::string number_text(const std::optional<double>& value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

/// The grid on the screen: a heading, and a line for each run.
class SweepTable {
 public:
  SweepTable(const std::vector<SweepAxis>& axes, const std::vector<SweepPoint>& points) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      keys_.push_back(axes[i].key);
      std::size_t width = axes[i].key.size();
      for (const SweepPoint& point : points) width = std::max(width, point.values[i].size());
      widths_.push_back(width);
    }
  }

  std::string heading() const {
    return line(keys_, "epochs", "validation", "test", "spikes", "time", "");
  }

  std::string row(const SweepRow& row, int64_t epochs) const {
    return line(row.values, fmt::format("{}/{}", row.summary.epochs, epochs),
                percent(row.summary.validation_accuracy), percent(row.summary.test_accuracy),
                number_text(row.summary.spikes_per_image, 0), duration_text(row.seconds),
                row.state == "finished" ? "" : row.state);
  }

 private:
  static std::string percent(const std::optional<double>& value) {
    return value ? number_text(value, 2) + " %" : "-";
  }

  std::string line(const std::vector<std::string>& values, const std::string& epochs,
                   const std::string& validation, const std::string& test,
                   const std::string& spikes, const std::string& time,
                   const std::string& state) const {
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i) {
      text += fmt::format("{:<{}}  ", values[i], widths_[i]);
    }
    text += fmt::format("{:>9}  {:>10}  {:>8}  {:>8}  {:>8}  {}", epochs, validation, test, spikes,
                        time, state);
    return text.substr(0, text.find_last_not_of(' ') + 1);
  }

  std::vector<std::string> keys_;
  std::vector<std::size_t> widths_;
};

/// One call of bntt sweep: trains the runs of a grid, those that are not finished, in order.
class Sweep {
 public:
  Sweep(const SweepArguments& arguments, std::vector<SweepAxis> axes,
        std::vector<SweepPoint> points)
      : arguments_(arguments),
        axes_(std::move(axes)),
        points_(std::move(points)),
        table_(axes_, points_) {
    const std::string known = fs::exists(csv()) ? read_text(csv()) : "";
    for (const SweepPoint& point : points_) {
      const RunSummary summary = summarise_run(paths_of(point));
      rows_.push_back({.run = point.name,
                       .values = point.values,
                       .summary = summary,
                       .seconds = seconds_in_csv(known, point.name),
                       .state = is_finished(summary, point.config) ? "finished" : "waiting"});
    }
  }

  int run() {
    progress_.never_silent_for(kLongestSilence);
    catch_interrupts();
    // All of the settings are compared before the first of the runs takes its hours.
    for (SweepPoint& point : points_) take_settings_of_begun(point);
    progress_.line(fmt::format("{}: {} runs", arguments_.out, points_.size()));
    progress_.line(table_.heading());
    for (std::size_t i = 0; i < points_.size() && !interrupted(); ++i) {
      if (rows_[i].state != "finished") train(i);
      if (!interrupted()) progress_.line(table_.row(rows_[i], points_[i].config.train.epochs));
    }
    return interrupted() ? stopped() : done();
  }

 private:
  fs::path csv() const { return fs::path(arguments_.out) / "sweep.csv"; }
  RunPaths paths_of(const SweepPoint& point) const {
    return {fs::path(arguments_.out) / point.name};
  }

  void take_settings_of_begun(SweepPoint& point) const {
    const RunPaths paths = paths_of(point);
    if (!fs::exists(paths.settings())) return;
    point.config = resumed_settings(paths, read_run_settings(paths), point.config, false);
  }

  void train(std::size_t i) {
    SweepRow& row = rows_[i];
    const RunPaths paths = paths_of(points_[i]);
    const Rate rate;
    try {
      const TrainingResult result =
          run_training(points_[i].config, paths, {},
                       {.resume = fs::exists(paths.directory),
                        .cache = arguments_.cache,
                        .label = fmt::format("run {}/{}  ", i + 1, points_.size()),
                        .quiet = true},
                       progress_);
      row.state = result.end == TrainEnd::finished ? "finished" : "stopped";
    } catch (const TrainingDiverged&) {
      row.state = "diverged";  // a result like any other: the sweep continues
    }
    row.seconds += rate.seconds();
    row.summary = summarise_run(paths);
    write_text_atomically(csv(), sweep_csv(axes_, rows_));
  }

  int stopped() {
    const auto finished = std::ranges::count(rows_, "finished", &SweepRow::state);
    progress_.line(
        fmt::format("stopped with {} of {} runs finished; run the same command again to continue",
                    finished, rows_.size()));
    return kInterrupted;
  }

  int done() {
    write_text_atomically(csv(), sweep_csv(axes_, rows_));
    const auto best = std::ranges::max_element(rows_, [](const SweepRow& a, const SweepRow& b) {
      return a.summary.validation_accuracy.value_or(-1.0) <
             b.summary.validation_accuracy.value_or(-1.0);
    });
    if (best->summary.validation_accuracy) {
      progress_.line(fmt::format("best by validation: {} ({:.2f} %)", best->run,
                                 *best->summary.validation_accuracy));
    }
    std::string runs;
    for (const SweepRow& row : rows_) {
      if (row.state == "finished") runs += " " + (fs::path(arguments_.out) / row.run).string();
    }
    progress_.line(fmt::format("table: {}", csv().string()));
    if (!runs.empty()) {
      progress_.line(fmt::format("compare: bntt report{} --out {}", runs,
                                 (fs::path(arguments_.out) / "report.html").string()));
    }
    return kDone;
  }

  const SweepArguments& arguments_;
  std::vector<SweepAxis> axes_;
  std::vector<SweepPoint> points_;
  SweepTable table_;
  std::vector<SweepRow> rows_;
  Progress progress_;
};

int sweep(const SweepArguments& arguments) {
  set_threads(arguments.threads);
  const std::optional<RunConfig> base = described_settings(arguments.settings, std::nullopt);
  if (!base) fail("sweep needs --preset or --config");
  if (fs::exists(RunPaths{arguments.out}.settings())) {
    fail("{}: is a run, expected a directory for the runs of the sweep", arguments.out);
  }
  std::vector<SweepAxis> axes;
  for (const std::string& over : arguments.over) axes.push_back(parse_sweep_axis(over));
  std::vector<SweepPoint> points = sweep_points(*base, axes);
  return Sweep(arguments, std::move(axes), std::move(points)).run();
}

}  // namespace

void add_sweep(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("sweep", "Train a run for every combination of the given settings");
  auto arguments = std::make_shared<SweepArguments>();
  command
      ->add_option("--over", arguments->over,
                   "a setting and its values, such as train.learning_rate=0.1,0.3 (repeatable)")
      ->allow_extra_args(false)
      ->required();
  add_settings_options(*command, arguments->settings);
  command->add_option("--out", arguments->out, "directory for the runs")->required();
  command->add_option("--threads", arguments->threads, "number of threads; 0: one per core")
      ->check(not_negative());
  add_cache_option(*command, arguments->cache);
  command->footer(
      "Example:\n  bntt sweep --preset demo-fashion-mnist --over train.learning_rate=0.1,0.3 "
      "--over "
      "model.steps=4,8 --epochs 2 --out runs/sweep\nCtrl-C stops; run the same command again to "
      "continue. The table is also written to runs/sweep/sweep.csv.");
  command->callback([arguments, &action] { action = [arguments] { return sweep(*arguments); }; });
}

}  // namespace bntt::cli
