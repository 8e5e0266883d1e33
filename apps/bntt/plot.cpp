#include <fmt/format.h>

#include "analysis.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/text.h"
#include "base/threads.h"
#include "command.h"
#include "interrupt.h"
#include "report/figures.h"
#include "report/gnuplot.h"

namespace bntt::cli {
namespace {
namespace fs = std::filesystem;

struct PlotArguments {
  std::string run;
  std::string figure;
  std::string out;
  std::string layer;
  double threshold = OutlineOptions{}.exit_threshold;
  std::optional<std::string> data;
  int64_t limit = AnalysisOptions{}.images;
  int threads = 0;
};

PictureFormat format_of(const fs::path& out) {
  if (out.extension() == ".svg") return PictureFormat::svg;
  if (out.extension() == ".png") return PictureFormat::png;
  fail("--out: '{}' should end in .svg or .png", excerpt(out.string()));
}

int list_figures() {
  for (const FigureEntry& entry : figure_entries()) {
    fmt::print("{:<21} {}\n", entry.name, entry.content);
  }
  return kDone;
}

int plot(const PlotArguments& arguments) {
  if (arguments.figure == "list") return list_figures();
  const FigureEntry& entry = figure_entry(arguments.figure);
  if (arguments.run.empty()) fail("run: expected the directory of a run");
  if (arguments.out.empty()) fail("--out: expected the file to write, .svg or .png");
  const PictureFormat format = format_of(arguments.out);
  set_threads(arguments.threads);
  Json run = run_outline(arguments.run, {.exit_threshold = arguments.threshold});
  if (run.contains("classical")) {
    fail("{}: is a run of a classical method, which has no figures; use bntt report",
         arguments.run);
  }
  prepare_output(arguments.out);
  if (entry.needs != AnalysisParts::none()) {
    AnalysisProgress progress(false);
    add_analyses(run, arguments.run,
                 {.data = arguments.data,
                  .images = arguments.limit,
                  .parts = entry.needs,
                  .progress = std::ref(progress)});
    if (interrupted()) return kInterrupted;
  }
  write_text_atomically(arguments.out,
                        run_gnuplot(figure_script(entry.name, run, arguments.layer, format)));
  return kDone;
}

}  // namespace

void add_plot(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("plot", "Draw one figure of a run as SVG or PNG");
  auto arguments = std::make_shared<PlotArguments>();
  command->add_option("run", arguments->run, "directory of the run");
  command->add_option("--figure", arguments->figure, "name of the figure; 'list' lists all names")
      ->required();
  command->add_option("--out", arguments->out, "file to write, .svg or .png");
  command->add_option("--layer", arguments->layer,
                      "layer shown by gamma-histogram; default: the first");
  command->add_option("--threshold", arguments->threshold,
                      fmt::format("threshold of the exit region shown by gamma; default: {}",
                                  arguments->threshold));
  command->add_option("--data", arguments->data, "directory of the data set");
  command
      ->add_option(
          "--limit", arguments->limit,
          fmt::format("measure on the first N test images (default {}; 0: all)", arguments->limit))
      ->check(not_negative());
  command->add_option("--threads", arguments->threads, "number of threads; 0: one per core")
      ->check(not_negative());
  command->footer(
      "Example:\n  bntt plot runs/demo --figure gamma --out gamma.svg\n"
      "Needs gnuplot (Debian package gnuplot-nox).");
  command->callback([arguments, &action] { action = [arguments] { return plot(*arguments); }; });
}

}  // namespace bntt::cli
