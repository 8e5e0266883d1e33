#include "analysis.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/threads.h"
#include "interrupt.h"

namespace bntt::cli {

void add_analysis_options(CLI::App& command, AnalysisArguments& arguments) {
  command.add_option("run", arguments.run, "directory of the run")->required();
  command.add_option("--data", arguments.data, "directory of the data set");
  command.add_option("--weights", arguments.weights, "best (highest validation accuracy) or last")
      ->check(CLI::IsMember({"best", "last"}))
      ->capture_default_str();
  command.add_option("--limit", arguments.limit, "use only the first N images; 0: all")
      ->check(not_negative());
  command.add_option("--seed", arguments.seed, "seed of the input spikes; default: the run's");
  command.add_option("--threads", arguments.threads, "number of threads; 0: one per core")
      ->check(not_negative());
  add_cache_option(command, arguments.cache);
  command.add_flag("--json", arguments.json, "print JSON");
}

OpenRun open_for_analysis(const AnalysisArguments& arguments, bool need_validation) {
  set_threads(arguments.threads);
  return open_run(arguments.run,
                  {.data = arguments.data,
                   .weights = arguments.weights == "last" ? RunWeights::last : RunWeights::best,
                   .need_validation = need_validation,
                   .limit = arguments.limit,
                   .seed = arguments.seed,
                   .cache = {.directory = cache_directory(arguments.cache)}});
}

std::string energy_comparison(double ratio) {
  return ratio >= 1.0 ? fmt::format("{:.3g} times less than", ratio)
                      : fmt::format("{:.3g} times that of", 1.0 / ratio);
}

void prepare_output(const std::filesystem::path& file) {
  namespace fs = std::filesystem;
  if (fs::is_directory(file)) {
    fail("{}: is a directory, expected a file to write", file.string());
  }
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder)) {
    fail("{}: the folder {} cannot be created: {}", file.string(), folder.string(),
         error ? error.message() : "a file has that name");
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    fail("{}: the folder {} is not writable", file.string(), folder.string());
  }
}

AnalysisProgress::AnalysisProgress(bool silent) : silent_(silent) { catch_interrupts(); }

bool AnalysisProgress::operator()(const std::string& what, int64_t images, int64_t of) {
  if (what != what_ || images < rate_.done()) {
    what_ = what;
    rate_ = Rate();
  }
  rate_.add(images - rate_.done());
  if (!silent_) {
    progress_.bar(what, images, of, fmt::format("{:.0f} images/s", rate_.per_second()),
                  rate_.seconds_for(of - images));
  }
  return interrupted();
}

}  // namespace bntt::cli
