#include "experiment/check_data.h"

#include <fmt/format.h>

#include <map>

#include "bntt/error.h"
#include "data/dataset.h"

namespace bntt {
namespace {

/// Why the data set cannot be opened; empty if it can.
std::string problem_of(const DataConfig& data) {
  try {
    open_dataset(data.name, data.dir, {.limit_train = 1, .limit_test = 1});
    return "";
  } catch (const Error& error) {
    return fmt::format("its data cannot be opened: {}", error.what());
  }
}

}  // namespace

void check_data(Plan& plan) {
  std::map<std::pair<std::string, std::string>, std::string> problems;  // by data set and directory
  for (PlannedRun& run : plan.runs) {
    if (!run.problem.empty()) continue;
    const DataConfig& data = run.config.data;
    const std::pair place(data.name, data.dir);
    if (!problems.contains(place)) problems[place] = problem_of(data);
    run.problem = problems[place];
    if (run.from && run.problem.empty()) run.problem = plan.runs[*run.from].problem;
  }
}

}  // namespace bntt
