#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "analyse/run.h"
#include "analysis.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/json.h"
#include "base/threads.h"
#include "command.h"
#include "interrupt.h"
#include "model/stopping.h"
#include "report/figure.h"
#include "report/gnuplot.h"
#include "train/evaluate.h"
#include "train/method_record.h"

namespace bntt::cli {
namespace {
namespace fs = std::filesystem;

struct StepsArguments {
  std::vector<std::string> runs;
  std::vector<int64_t> at = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000};
  std::string out;
  std::optional<std::string> data;
  int64_t limit = 0;
  int threads = 0;
  bool json = false;
  CacheArguments cache;
};

/// What one run says after each of the steps that it has.
struct Curve {
  std::string run;
  std::string method;
  int64_t steps = 0;  ///< of the run
  int64_t images = 0;
  std::vector<StoppedEvaluation> points;
  double seconds = 0.0;
};

/// Those of the requested steps that the run has and after which the readout has received input;
/// always the last.
std::vector<int64_t> steps_of(const NetworkSpec& spec, const std::vector<int64_t>& at) {
  const int64_t idle = spec.steps - active_steps(spec);
  std::vector<int64_t> steps = {spec.steps};
  for (const int64_t step : at) {
    if (step > idle && step < spec.steps) steps.push_back(step);
  }
  return steps;
}

Curve measured(const std::string& directory, const StepsArguments& arguments,
               AnalysisProgress& progress) {
  const OpenRun run =
      open_run(directory, {.data = arguments.data,
                           .limit = arguments.limit,
                           .cache = {.directory = cache_directory(arguments.cache)}});
  Curve curve{.run = fs::path(directory).lexically_normal().string(),
              .method = method_of(run.config).name,
              .steps = run.network.spec().steps,
              .images = run.test.size()};
  const Rate rate;
  curve.points =
      evaluate(run.network, run.data.test, run.test,
               {.encoder = run.encoder,
                .seed = run.seed,
                .at_steps = steps_of(run.network.spec(), arguments.at),
                .progress = [&](int64_t done) { return progress(curve.run, done, curve.images); }})
          .stopped;
  curve.seconds = rate.seconds();
  return curve;
}

Json report(const std::vector<Curve>& curves) {
  Json runs = Json::array();
  for (const Curve& curve : curves) {
    Json points = Json::array();
    for (const StoppedEvaluation& point : curve.points) {
      points.push_back({{"steps", point.steps},
                        {"accuracy", point.sums.accuracy()},
                        {"spikes_per_image", point.spikes_per_image}});
    }
    runs.push_back({{"run", curve.run},
                    {"method", curve.method},
                    {"steps", curve.steps},
                    {"images", curve.images},
                    {"seconds", curve.seconds},
                    {"points", points}});
  }
  return {{"runs", runs}};
}

void print(const std::vector<Curve>& curves) {
  std::vector<int64_t> all;
  std::size_t width = 0;
  for (const Curve& curve : curves) {
    width = std::max(width, curve.run.size());
    for (const StoppedEvaluation& point : curve.points) all.push_back(point.steps);
  }
  std::ranges::sort(all);
  const auto same = std::ranges::unique(all);
  all.erase(same.begin(), same.end());
  fmt::print("accuracy (%) after each number of steps\n{:<{}}", "", width);
  for (const int64_t steps : all) fmt::print(" {:>6}", steps);
  fmt::print("\n");
  for (const Curve& curve : curves) {
    fmt::print("{:<{}}", curve.run, width);
    for (const int64_t steps : all) {
      const auto found = std::ranges::find(curve.points, steps, &StoppedEvaluation::steps);
      if (found == curve.points.end()) {
        fmt::print(" {:>6}", "");
      } else {
        fmt::print(" {:>6.2f}", found->sums.accuracy());
      }
    }
    fmt::print("  {}\n", curve.method);
  }
}

LineFigure figure_of(const std::vector<Curve>& curves) {
  constexpr std::array kColours = {"#2457c5", "#b3372f", "#1f9d6b", "#d98a08",
                                   "#4b2991", "#1487a8", "#86a51e"};
  LineFigure figure{
      .x_label = "time steps", .y_label = "accuracy (%)", .from_zero = true, .logarithmic_x = true};
  double last = 1.0;
  for (const Curve& curve : curves) last = std::max(last, static_cast<double>(curve.steps));
  std::size_t next = 0;
  for (const Curve& curve : curves) {
    FigureSeries series{
        .label = fmt::format("{} ({})", curve.method, fs::path(curve.run).filename().string())};
    if (curve.steps == 1) {  // an ANN: a level to compare with
      const double level = curve.points.front().sums.accuracy();
      series.colour = "#8a93a3";
      series.points = {{1.0, level}, {last, level}};
      series.dashed = true;
      series.marks = false;
    } else {
      series.colour = kColours[next++ % kColours.size()];
      for (const StoppedEvaluation& point : curve.points) {
        series.points.push_back({static_cast<double>(point.steps), point.sums.accuracy()});
      }
    }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

int steps(const StepsArguments& arguments) {
  set_threads(arguments.threads);
  if (!arguments.out.empty()) prepare_output(arguments.out);
  AnalysisProgress progress(arguments.json);
  std::vector<Curve> curves;
  for (const std::string& run : arguments.runs) {
    curves.push_back(measured(run, arguments, progress));
    if (interrupted()) return kInterrupted;
  }
  if (!arguments.out.empty()) {
    const PictureFormat format =
        fs::path(arguments.out).extension() == ".png" ? PictureFormat::png : PictureFormat::svg;
    write_text_atomically(arguments.out, run_gnuplot(plot_script(figure_of(curves), format)));
  }
  if (arguments.json) {
    fmt::print("{}\n", report(curves).dump(2));
  } else {
    print(curves);
  }
  return kDone;
}

}  // namespace

void add_steps(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("steps", "Compare the accuracy of runs after different numbers of steps");
  auto arguments = std::make_shared<StepsArguments>();
  command->add_option("runs", arguments->runs, "directories of runs on one data set")->required();
  command->add_option("--at", arguments->at, "numbers of steps, such as 10,100,1000")
      ->delimiter(',')
      ->check(positive());
  command->add_option("--out", arguments->out, "also draw the curves into this file, .svg or .png")
      ->check([](const std::string& file) -> std::string {
        const fs::path extension = fs::path(file).extension();
        return extension == ".svg" || extension == ".png" ? "" : "should end in .svg or .png";
      });
  command->add_option("--data", arguments->data, "directory of the data set");
  command->add_option("--limit", arguments->limit, "use only the first N test images")
      ->check(not_negative());
  command->add_option("--threads", arguments->threads, "number of threads; 0: one per core")
      ->check(not_negative());
  add_cache_option(*command, arguments->cache);
  command->add_flag("--json", arguments->json, "print JSON");
  command->footer(
      "Example:\n  bntt steps runs/ann runs/rmp runs/spike-norm --at 10,50,100,500 --limit 1000 "
      "--out steps.svg");
  command->callback([arguments, &action] { action = [arguments] { return steps(*arguments); }; });
}

}  // namespace bntt::cli
