#include "classical_text.h"

#include <fmt/format.h>

#include <numeric>

#include "toml/toml.h"

namespace bntt::cli {
namespace {

std::string scores_text(const ClassicalResult& result) {
  std::string text = fmt::format(
      "test      {} of {} recordings correct, accuracy {:.2f} %, mean over classes {:.2f} %\n",
      result.right, result.data.test, result.accuracy, result.class_balanced);
  const int64_t unanswered =
      std::accumulate(result.unanswered.begin(), result.unanswered.end(), int64_t{0});
  if (unanswered > 0) text += fmt::format("          {} without an answer\n", unanswered);
  if (result.auc) text += fmt::format("          area under the ROC curve {:.3f}\n", *result.auc);
  for (const OtherScore& score : result.also) {
    text += fmt::format("          {:.2f} %: {}\n", score.accuracy, score.name);
  }
  if (result.validation_accuracy) {
    text += fmt::format("          {:.2f} % of {} validation recordings\n",
                        *result.validation_accuracy, result.data.validation);
  }
  if (result.cost) text += fmt::format("svm       cost {}", *result.cost);
  for (std::size_t i = 0; i < result.costs.size(); ++i) {
    text += fmt::format("{}{}: {:.2f} %", i == 0 ? ", chosen by validation accuracy of " : ", ",
                        result.costs[i].cost, result.costs[i].validation_accuracy);
  }
  return result.cost ? text + "\n" : text;
}

}  // namespace

std::string classical_text(const ClassicalRun& run) {
  const ClassicalResult& result = run.result;
  const ClassicalDataSummary& data = result.data;
  std::string text = fmt::format("method    {} ({})\n", result.title, result.source);
  text += fmt::format(
      "data      {}: {} training, {} validation and {} test recordings, {} classes, sensor "
      "{}x{}\n",
      data.name, data.train, data.validation, data.test, data.classes.size(), data.sensor_width,
      data.sensor_height);
  text += fmt::format("features  {}: {}; {:.0f} of them nonzero in a recording on average\n",
                      result.features.count, result.features.text, result.features.mean_nonzero);
  text += scores_text(result);
  if (result.published) {
    text += fmt::format("published {:.1f} %: {}\n", result.published->accuracy,
                        result.published->source);
  }
  for (const std::string& note : result.notes) text += fmt::format("note      {}\n", note);
  text += fmt::format("\n{:<28} {:>10} {:>10} {:>12} {:>12}\n", "processor time", "recordings",
                      "events", "ms to read", "ms to compute");
  for (const PassTimes& pass : run.times.passes) {
    text += fmt::format("{:<28} {:>10} {:>10} {:>12.3f} {:>12.3f}\n", pass.what, pass.recordings,
                        pass.events, pass.reading_ms, pass.work_ms);
  }
  text += fmt::format("{:.1f} s in total with {} {}\n", run.times.seconds, run.times.threads,
                      run.times.threads == 1 ? "thread" : "threads");
  return text;
}

Json classical_json(const ClassicalRun& run) {
  return {{"settings", parse_toml(to_toml(run.config), "settings")},
          {"result", to_json(run.result)},
          {"times", to_json(run.times)}};
}

}  // namespace bntt::cli
