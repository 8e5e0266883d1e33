#include "analysis.h"

#include <fmt/format.h>

#include "base/threads.h"
#include "interrupt.h"

namespace bntt::cli {

void add_analysis_options(CLI::App& command, AnalysisArguments& arguments) {
  command.add_option("run", arguments.run, "directory of the run")->required();
  command.add_option("--data", arguments.data, "directory of the data set");
  command.add_option("--weights", arguments.weights, "best (by validation) or last")
      ->check(CLI::IsMember({"best", "last"}));
  command.add_option("--limit", arguments.limit, "use the first N images")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--seed", arguments.seed, "of the input spikes; default: the run's");
  command.add_option("--threads", arguments.threads, "0: one per core")
      ->check(CLI::NonNegativeNumber);
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
